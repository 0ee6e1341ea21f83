"""Figures of the PySpark pipeline over a long history: `make bench-pipeline`.

Five million records of 20,000 groups, made once and kept under .cache/ as Parquet of raw records. Five questions:

1. kafka: decoding, and the offsets that `offset_current` has, beside merely reading and counting the same records in
   the same session through Spark's Kafka source, from a topic of the stub; in turns; the ratio of the best. It is
   done as `run` does it: every column of every record is kept as Parquet on the way.
2. saved: the same from Parquet; beside it, merely handing every record to a Python worker, the least that any decoder
   in Python costs.
3. bad: the same as the second with 1 % of the records damaged.
4. skew: a whole run over a log of 10,000 groups, of which one has a third of all records: how much longer the slowest
   task of a stage takes than the median of its tasks.
5. runs: whole runs of `kafkastub-pipeline run` over one and five million records (`--millions 1 5 25 100`), each on a
   standalone cluster of one worker and of two: time, and the largest memory of a worker with its executor and Python.

CPU seconds are of the whole tree of processes; other work on the machine makes them larger, as it does seconds. What
was measured last of each question, and of each length and number of workers, is kept, and written into docs/pipeline.md
with a plot, unless `--quick`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import pipeline_figures as figures
from bench import pipeline_processes as processes
from bench import straggling
from bench.contestants import module, process_that_says_ready, stub_command
from bench.offsets_log import GROUPS, LOG_PARTITIONS, log_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Source = Callable[["SparkSession"], "DataFrame"]
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bench-pipeline"
RECORDS = 5_000_000
MILLIONS = (1.0, 5.0)
QUICK, QUICK_MILLIONS = 200_000, (0.05, 0.2)
BAD = 0.01
ROUNDS = 5
RATIO_BUDGET = 3.0
BAD_BUDGET = 1.10
STRAGGLER_BUDGET = 2.0
LINEAR_BUDGET = 1.25
"""Cost a record of the longest history beside that of the shortest."""
MEMORY_BUDGET = 1.10
"""Largest memory of a worker with the longest history, beside that with the one before it."""
WORKERS = (1, 2)
PARTS = ("kafka", "saved", "bad", "skew", "runs")
COPY = "offsets-copy"
COUNT, HANDED = "read and count", "hand to Python, and drop"
OFFSETS, DAMAGED = "decode and offset_current", "decode and offset_current, 1 % damaged"
SETTINGS = (("spark.ui.enabled", "false"), ("spark.log.level", "ERROR"), ("spark.driver.host", "127.0.0.1"))


@dataclass
class Cost:
    """Seconds of one thing, a number a round."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def line(self, name: str, records: int) -> str:
        wall, cpu = statistics.median(self.wall), statistics.median(self.cpu)
        return f"{name:<44}{wall:9.2f}{min(self.wall):9.2f}{cpu:9.2f}{wall * 1e6 / records:10.2f}"


def session(kafka: bool = False) -> SparkSession:
    """As the command starts one."""
    from kafkastub_pipeline.session import spark_session

    return spark_session(conf=SETTINGS, kafka=kafka)


def saved(path: Path) -> Source:
    """Records from Parquet."""

    def read(spark: SparkSession) -> DataFrame:
        from kafkastub_pipeline.sources import read_raw

        return read_raw(spark, str(path))

    return read


def served(servers: str) -> Source:
    """Records from a topic of the stub, as `run` reads `__consumer_offsets`."""

    def read(spark: SparkSession) -> DataFrame:
        from kafkastub_pipeline.sources import read_kafka

        return read_kafka(spark, servers, LOG_PARTITIONS, topic=COPY)

    return read


def counted(spark: SparkSession, raw: Source) -> None:
    """Merely read and count: every byte of every record is read, as lengths tell."""
    lengths = "count(*)", "sum(length(key))", "sum(length(value))", "max(partition)", "max(offset)", "max(timestamp)"
    raw(spark).selectExpr(*lengths).collect()


def handed(spark: SparkSession, raw: Source) -> None:
    """Every record goes to a Python worker over Arrow, as decoding needs it, and nothing is done with it there."""
    from kafkastub_pipeline.decode import plain

    records = plain(raw(spark))
    _done(records.mapInArrow(_dropped, records.schema))


def _dropped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.slice(0, 0)


def current(spark: SparkSession, raw: Source, files: bool = True) -> None:
    """Every record decoded and kept, and what is left of each offset."""
    from kafkastub_pipeline.staging import staged

    root = CACHE / f"staging-{os.getpid()}"
    try:
        _done(staged(raw(spark), root, files)[1])
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _done(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


@contextmanager
def stub_with(path: Path, records: int) -> Iterator[str]:
    """HOST:PORT of a stub with a copy of saved records in a topic; it takes as long as producing them does."""
    import pyarrow.parquet as pq
    from confluent_kafka import Producer

    command = [*stub_command(), "--topic", f"{COPY}:{LOG_PARTITIONS}"]
    with process_that_says_ready("kafkastub", command) as stub:
        producer = Producer(
            {
                "bootstrap.servers": f"{stub.host}:{stub.port}",
                "linger.ms": 50,
                "batch.size": 500_000,
                "queue.buffering.max.messages": 500_000,
                "queue.buffering.max.kbytes": 500_000,
            }
        )
        for file in sorted(path.glob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(50_000, columns=["key", "value", "partition", "timestamp"]):
                times = batch.column("timestamp").cast("int64").to_pylist()
                columns = (batch.column(name).to_pylist() for name in ("key", "value", "partition"))
                for key, value, partition, at in zip(*columns, times, strict=True):
                    producer.produce(COPY, value, key, partition, timestamp=at)
                while len(producer) > 200_000:
                    producer.poll(0.1)
        if producer.flush(600):
            raise SystemExit(f"the stub did not take {records:,} records")
        yield f"{stub.host}:{stub.port}"


def compared(spark: SparkSession, things: dict[str, Callable[[], None]], rounds: int) -> dict[str, Cost]:
    """The things in turns, after one round that warms the JVM up."""
    costs = {name: Cost() for name in things}
    for number in range(rounds + 1):
        for name, act in things.items():
            with _timed(costs[name], keep=number > 0):
                act()
            print(f"round {number}: {name}", file=sys.stderr, flush=True)
    return costs


@contextmanager
def _timed(cost: Cost, keep: bool) -> Iterator[None]:
    wall, cpu = time.monotonic(), processes.usage()[0]
    yield
    if keep:
        cost.wall.append(time.monotonic() - wall)
        cost.cpu.append(processes.usage()[0] - cpu)


def whole_run(path: Path, out: Path, master: str | None) -> dict[str, float]:
    """`run` over raw records in this process, for which nothing else may have run; seconds from a session on."""
    from kafkastub_pipeline.run import Settings, run
    from kafkastub_pipeline.session import spark_session

    conf = [*SETTINGS, ("spark.executor.memory", "1g"), ("spark.pyspark.python", sys.executable)]
    spark = session() if master is None else spark_session(master, conf=conf, kafka=False)
    spark.range(1).count()
    begun = time.monotonic()
    run(spark, Settings(out=str(out), raw=str(path), retention_minutes=(10080, 1440)))
    return {"wall": time.monotonic() - begun}


def command(path: Path) -> list[str]:
    """A whole run in a process of its own, but for the options `--out` and `--master`."""
    return module("bench.pipeline", "--whole-run", str(path))


def main() -> int:
    """Print the tables; 1 where a budget is missed."""
    options = _options()
    if options.whole_run is not None:
        print(json.dumps(whole_run(Path(options.whole_run), Path(options.out), options.master)))
        return 0
    records = QUICK if options.quick else options.records
    print(f"records are made under {CACHE} where they are not there", file=sys.stderr)
    missed: list[str] = []
    found: dict[str, Any] = {}
    if not {"saved", "bad", "kafka"}.isdisjoint(options.parts):
        _compare(options.parts, log_of(CACHE, records), records, 1 if options.quick else options.rounds, missed, found)
    if "skew" in options.parts:
        found["skew"] = _skewed(records, missed)
    if "runs" in options.parts:
        millions = QUICK_MILLIONS if options.quick else options.millions
        _runs(millions, options.workers, missed, keep=not options.quick)
    for text in missed:
        print(f"missed: {text}")
    if options.quick:
        print("quick: so short a history says nothing of the budgets")
    else:
        figures.write(CACHE / "figures.json", found)
    return 1 if missed and not options.quick else 0


def _compare(
    parts: Sequence[str], path: Path, records: int, rounds: int, missed: list[str], found: dict[str, Any]
) -> None:
    print(f"\n{records:,} records of {GROUPS:,} groups, {os.cpu_count()} cores, {rounds} rounds in turns")
    print(f"{'seconds':<44}{'median':>9}{'best':>9}{'cpu':>9}{'us/record':>10}")
    spark = session("kafka" in parts)
    try:
        if "kafka" in parts:
            with stub_with(path, records) as servers:
                things = {
                    COUNT: lambda: counted(spark, served(servers)),
                    OFFSETS: lambda: current(spark, served(servers), files=False),
                }
                costs = compared(spark, things, rounds)
            _shown(costs, records, " (kafka)")
            found["kafka"] = _judged("kafka", costs[OFFSETS], costs[COUNT], records, RATIO_BUDGET, missed)
        if not {"saved", "bad"}.isdisjoint(parts):
            _compare_saved(spark, parts, path, records, rounds, missed, found)
    finally:
        spark.stop()


def _compare_saved(
    spark: SparkSession,
    parts: Sequence[str],
    path: Path,
    records: int,
    rounds: int,
    missed: list[str],
    found: dict[str, Any],
) -> None:
    things = {
        COUNT: lambda: counted(spark, saved(path)),
        HANDED: lambda: handed(spark, saved(path)),
        OFFSETS: lambda: current(spark, saved(path)),
    }
    if "bad" in parts:
        damaged = log_of(CACHE, records, BAD)
        things[DAMAGED] = lambda: current(spark, saved(damaged))
    costs = compared(spark, things, rounds)
    _shown(costs, records)
    ours, bare = costs[OFFSETS], costs[COUNT]
    found["saved"] = _judged("saved, beside read and count", ours, bare, records, RATIO_BUDGET, missed)
    found["handed"] = _judged("saved, beside handing to Python", ours, costs[HANDED], records, None, missed)
    if "bad" in parts:
        found["bad"] = _judged("1 % damaged", costs[DAMAGED], ours, records, BAD_BUDGET, missed)


def _shown(costs: dict[str, Cost], records: int, note: str = "") -> None:
    for name, cost in costs.items():
        print(cost.line(name + note, records), flush=True)


def _judged(
    what: str, cost: Cost, base: Cost, records: int, budget: float | None, missed: list[str]
) -> dict[str, float | None]:
    """The best of each, and the ratios of these."""
    wall, cpu = min(cost.wall) / min(base.wall), min(cost.cpu) / min(base.cpu)
    allowed = "no budget" if budget is None else f"budget {budget:.2f}x"
    print(f"{what + ', ratio of the best':<44}{wall:8.2f}x  cpu {cpu:.2f}x  {allowed}", flush=True)
    if budget is not None and wall > budget:
        missed.append(f"{what}: {wall:.2f} times, budget {budget:.2f}")
    times = {"wall": min(cost.wall), "cpu": min(cost.cpu), "base_wall": min(base.wall), "base_cpu": min(base.cpu)}
    return times | {"records": records, "ratio": wall, "cpu_ratio": cpu, "budget": budget}


def _skewed(records: int, missed: list[str]) -> list[dict[str, Any]]:
    """Stages of a whole run over a skewed log: the least even first, of those whose slowest task is worth a look."""
    from kafkastub_pipeline.run import Settings, run

    path, out = log_of(CACHE, records, skewed=True), CACHE / f"out-{os.getpid()}"
    spark = session()
    try:
        run(spark, Settings(out=str(out), raw=str(path), retention_minutes=(10080, 1440)))
        found = [one for one in straggling.stages(spark) if one.slowest >= straggling.LEAST_SECONDS]
    finally:
        spark.stop()
        shutil.rmtree(out, ignore_errors=True)
    print(f"\n{'skewed: stage':<44}{'tasks':>9}{'median':>9}{'slowest':>9}{'ratio':>9}")
    for one in found:
        print(f"{one.name[:43]:<44}{one.tasks:9}{one.median:9.2f}{one.slowest:9.2f}{one.ratio:9.2f}")
    if found and found[0].ratio > STRAGGLER_BUDGET:
        missed.append(f"the slowest task takes {found[0].ratio:.2f} times the median, budget {STRAGGLER_BUDGET:.2f}")
    return [vars(one) | {"ratio": one.ratio, "records": records} for one in found]


def _runs(millions: Sequence[float], workers_of_each: Sequence[int], missed: list[str], keep: bool) -> None:
    """Each is kept as soon as it is done: the longest takes hours."""
    print(
        f"\n{'whole run':<20}{'workers':>9}{'seconds':>9}{'cpu':>9}{'us/record':>11}{'cpu us/rec':>11}{'peak MiB':>10}"
    )
    found: list[dict[str, float]] = []
    for records in (round(one * 1e6) for one in millions):
        for workers in workers_of_each:
            one = processes.on_cluster(command(log_of(CACHE, records)), CACHE, workers)
            found.append(one | {"records": records, "workers": workers})
            wall, cpu, peak = one["wall"] * 1e6 / records, one["cpu"] * 1e6 / records, one["peak"] / 2**20
            print(
                f"{records:<20,}{workers:9}{one['wall']:9.1f}{one['cpu']:9.1f}{wall:11.2f}{cpu:11.2f}{peak:10.0f}",
                flush=True,
            )
            if keep:
                figures.write(CACHE / "figures.json", {"runs": found})
    for workers in workers_of_each:
        _grown([one for one in found if one["workers"] == workers], missed)


def _grown(found: list[dict[str, float]], missed: list[str]) -> None:
    """Whether time grows with the length of the log, and memory does not."""
    if len(found) < 2:
        return
    first, before, last = found[0], found[-2], found[-1]
    linear = (last["cpu"] / last["records"]) / (first["cpu"] / first["records"])
    memory = last["peak"] / before["peak"]
    print(f"cpu a record, longest : shortest  {linear:.2f}x  budget {LINEAR_BUDGET:.2f}x")
    print(f"memory, longest : the one before  {memory:.2f}x  budget {MEMORY_BUDGET:.2f}x")
    if linear > LINEAR_BUDGET:
        missed.append(f"cost a record grows {linear:.2f} times, budget {LINEAR_BUDGET:.2f}")
    if memory > MEMORY_BUDGET:
        missed.append(f"a worker's memory grows {memory:.2f} times, budget {MEMORY_BUDGET:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Figures of the PySpark pipeline over a long history.")
    parser.add_argument("--quick", action="store_true", help="few records and one round: does it run?")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of the comparison (default {ROUNDS})")
    parser.add_argument("--records", type=int, default=RECORDS, help=f"of the comparison (default {RECORDS:,})")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which questions (default all)")
    parser.add_argument("--millions", nargs="+", type=float, default=MILLIONS, help="of whole runs (default 1 5)")
    parser.add_argument("--workers", nargs="+", type=int, default=WORKERS, help="of whole runs (default 1 2)")
    parser.add_argument("--whole-run", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--out", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--master", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
