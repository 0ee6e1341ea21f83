"""Figures of the PySpark pipeline over a long history: `make bench-pipeline`.

Five million records of 20,000 groups, made once and kept under .cache/ as Parquet of raw records. Four questions:

1. kafka: decoding, and the offsets that `offset_current` has, beside merely reading and counting the same records in
   the same session through Spark's Kafka source, from a topic of the stub; in turns; the median of the ratios. It is
   done as `run` does it: every column of every record is kept as Parquet on the way.
2. saved: the same from Parquet. There the ratio says little: Spark reads its own columns in a fifth of a microsecond a
   record, and merely handing a record to a Python worker takes four times that. It is this, the least that any decoder
   in Python costs, that decoding is judged by.
3. bad: the same as the second with 1 % of the records damaged.
4. runs: whole runs of `kafkastub-pipeline run` over one, two and five million records, each in a process of its own:
   time, and the largest memory of the driver, its JVM and its Python workers together.

CPU seconds are of the whole tree of processes: on a machine that others use too they are what to look at.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from contestants import process_that_says_ready, stub_command
from offsets_log import GROUPS, LOG_PARTITIONS, log_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Source = Callable[["SparkSession"], "DataFrame"]
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "bench-pipeline"
RECORDS = (1_000_000, 2_000_000, 5_000_000)
QUICK = (100_000, 200_000, 500_000)
BAD = 0.01
ROUNDS = 5
RATIO_BUDGET = 3.0
HANDED_BUDGET = 6.0
"""Beside merely handing records to Python: they come back as 21 columns, and are written."""
BAD_BUDGET = 1.10
LINEAR_BUDGET = 1.25
"""Cost a record of the longest history beside that of the shortest."""
MEMORY_BUDGET = 1.10
"""Peak memory of the longest beside that of the one before it: the shortest fills neither heap nor buffers yet."""
PARTS = ("kafka", "saved", "bad", "runs")
COPY = "offsets-copy"
COUNT, HANDED = "read and count", "hand to Python, and drop"
OFFSETS, DAMAGED = "decode and offset_current", "decode and offset_current, 1 % damaged"
SETTINGS = (("spark.ui.enabled", "false"), ("spark.log.level", "ERROR"), ("spark.driver.host", "127.0.0.1"))
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


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


def current(spark: SparkSession, raw: Source) -> None:
    """Every record decoded and kept, and what is left of each offset."""
    from kafkastub_pipeline.decode.latest import current_of, decoded_with_candidates
    from kafkastub_pipeline.write import Store

    root = CACHE / f"staging-{os.getpid()}"
    try:
        stored = Store(spark, str(root)).write("records", decoded_with_candidates(raw(spark)))
        _done(current_of(stored.where("place is not null")))
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
    wall, cpu = time.monotonic(), _usage()[0]
    yield
    if keep:
        cost.wall.append(time.monotonic() - wall)
        cost.cpu.append(_usage()[0] - cpu)


def _usage() -> tuple[float, int]:
    """CPU seconds and resident bytes of this process and all below it, dead children included."""
    seconds, resident = 0.0, 0
    parents: dict[int, list[int]] = {}
    figures: dict[int, tuple[float, int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(entry.name))
        figures[int(entry.name)] = sum(map(int, fields[11:15])) / _TICK, int(fields[21]) * _PAGE
    left = [os.getpid()]
    while left:
        pid = left.pop()
        left += parents.get(pid, [])
        seconds, resident = seconds + figures.get(pid, (0, 0))[0], resident + figures.get(pid, (0, 0))[1]
    return seconds, resident


def whole_run(path: Path, out: Path) -> dict[str, float]:
    """`run` over raw records in this process, for which nothing else may have run; its cost."""
    from kafkastub_pipeline.run import Settings, run

    peak = 0
    ended = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not ended.wait(0.2):
            peak = max(peak, _usage()[1])

    spark = session()
    spark.range(1).count()
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wall, cpu = time.monotonic(), _usage()[0]
    try:
        run(spark, Settings(out=str(out), raw=str(path), retention_minutes=(10080, 1440)))
    finally:
        ended.set()
        watcher.join()
    return {"wall": time.monotonic() - wall, "cpu": _usage()[0] - cpu, "peak": float(peak)}


def _apart(path: Path) -> dict[str, float]:
    """A whole run in a process of its own."""
    out = CACHE / f"out-{os.getpid()}"
    command = [sys.executable, str(Path(__file__).resolve()), "--whole-run", str(path), "--out", str(out)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=7200)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    if done.returncode:
        raise SystemExit(f"the whole run over {path} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Print the tables; 1 where a budget is missed."""
    options = _options()
    if options.whole_run is not None:
        print(json.dumps(whole_run(Path(options.whole_run), Path(options.out))))
        return 0
    sizes = QUICK if options.quick else RECORDS
    rounds = 2 if options.quick else options.rounds
    print(f"records are made under {CACHE} where they are not there", file=sys.stderr)
    logs = {size: log_of(CACHE, size) for size in sizes}
    missed: list[str] = []
    longest = sizes[-1]
    if not {"saved", "bad", "kafka"}.isdisjoint(options.parts):
        _compare(options.parts, logs[longest], longest, rounds, missed)
    if "runs" in options.parts:
        _runs(logs, missed)
    for text in missed:
        print(f"missed: {text}")
    if options.quick:
        print("quick: so short a history says nothing of the budgets")
    return 1 if missed and not options.quick else 0


def _compare(parts: Sequence[str], path: Path, records: int, rounds: int, missed: list[str]) -> None:
    print(f"\n{records:,} records of {GROUPS:,} groups, {os.cpu_count()} cores, {rounds} rounds in turns")
    print(f"{'seconds':<44}{'median':>9}{'best':>9}{'cpu':>9}{'us/record':>10}")
    spark = session("kafka" in parts)
    try:
        if "kafka" in parts:
            with stub_with(path, records) as servers:
                things = {
                    COUNT: lambda: counted(spark, served(servers)),
                    OFFSETS: lambda: current(spark, served(servers)),
                }
                costs = compared(spark, things, rounds)
            _shown(costs, records, " (kafka)")
            _judged("kafka", costs[OFFSETS], costs[COUNT], RATIO_BUDGET, missed)
        if not {"saved", "bad"}.isdisjoint(parts):
            _compare_saved(spark, parts, path, records, rounds, missed)
    finally:
        spark.stop()


def _compare_saved(
    spark: SparkSession, parts: Sequence[str], path: Path, records: int, rounds: int, missed: list[str]
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
    _judged("saved, beside read and count", costs[OFFSETS], costs[COUNT], None, missed)
    _judged("saved, beside handing to Python", costs[OFFSETS], costs[HANDED], HANDED_BUDGET, missed)
    if "bad" in parts:
        _judged("1 % damaged", costs[DAMAGED], costs[OFFSETS], BAD_BUDGET, missed)


def _shown(costs: dict[str, Cost], records: int, note: str = "") -> None:
    for name, cost in costs.items():
        print(cost.line(name + note, records), flush=True)


def _judged(what: str, cost: Cost, base: Cost, budget: float | None, missed: list[str]) -> None:
    """The median of the ratios of each round."""
    wall = statistics.median(x / y for x, y in zip(cost.wall, base.wall, strict=True))
    cpu = statistics.median(x / y for x, y in zip(cost.cpu, base.cpu, strict=True))
    allowed = "no budget" if budget is None else f"budget {budget:.2f}x"
    print(f"{what + ', ratio':<44}{wall:8.2f}x  cpu {cpu:.2f}x  {allowed}", flush=True)
    if budget is not None and wall > budget:
        missed.append(f"{what}: {wall:.2f} times, budget {budget:.2f}")


def _runs(logs: dict[int, Path], missed: list[str]) -> None:
    print(f"\n{'whole run':<20}{'seconds':>9}{'cpu':>9}{'us/record':>11}{'cpu us/rec':>11}{'peak MiB':>10}")
    found = {}
    for records, path in logs.items():
        found[records] = one = _apart(path)
        wall, cpu = one["wall"] * 1e6 / records, one["cpu"] * 1e6 / records
        peak = one["peak"] / 2**20
        print(f"{records:<20,}{one['wall']:9.1f}{one['cpu']:9.1f}{wall:11.2f}{cpu:11.2f}{peak:10.0f}")
    least, most = min(found), max(found)
    linear = (found[most]["cpu"] / most) / (found[least]["cpu"] / least)
    memory = found[most]["peak"] / found[sorted(found)[-2]]["peak"]
    print(f"cpu a record, longest : shortest  {linear:.2f}x  budget {LINEAR_BUDGET:.2f}x")
    print(f"peak memory, longest : second     {memory:.2f}x  budget {MEMORY_BUDGET:.2f}x")
    if linear > LINEAR_BUDGET:
        missed.append(f"cost a record grows {linear:.2f} times, budget {LINEAR_BUDGET:.2f}")
    if memory > MEMORY_BUDGET:
        missed.append(f"peak memory grows {memory:.2f} times, budget {MEMORY_BUDGET:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Figures of the PySpark pipeline over a long history.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the records and two rounds: does it run?")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of the comparison (default {ROUNDS})")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="which questions (default all)")
    parser.add_argument("--whole-run", metavar="DIR", help=argparse.SUPPRESS)
    parser.add_argument("--out", metavar="DIR", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
