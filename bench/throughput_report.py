"""What `bench.throughput` has found: as a table, and as a section of docs/performance.md."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bench import performance_page, report
from bench.budgets import STUB
from bench.contestants import kfake_version
from bench.results import machine

MIB: Final = 1 << 20
HEADING: Final = "Throughput with real clients"

_TEXT: Final = """`make bench-throughput` writes this section.

Clients send and read as fast as they can, on the machine that the brokers run on. Each row differs from a base case:
one client of Kafka's perf tools, records of 1 KB, no compression, `acks=all`, one partition. The content of records is
random capital letters.

- *java*: `kafka-producer-perf-test`, `kafka-consumer-perf-test` and `kafka-share-consumer-perf-test`, in a JVM that has
  run them before. *franz-go* and *librdkafka* (confluent-kafka) are small programs that do the same.
- *java x 8*: eight producers on eight partitions, then eight consumers, each of which reads everything. In
  *franz-go x 8* each consumer reads one partition.
- *java transactional*: a transaction is committed when it is 100 ms old, and the consumer reads committed records.
- *MB/s* is 2^20 bytes of record values. *x kfake* and *x kafka* say how many times as fast kafkastub is: the median of
  the rounds' ratios.
- *server ms/MB* is the processor time of the broker's process for each MB. Other work on the machine changes it least.

{table}
{failures}
Measured on {day} with kfake {kfake} and Apache Kafka {kafka}, {rounds} rounds, Python {python} on {system},
{processors} processors, load {load}.
"""


@dataclass(frozen=True)
class Sample:
    """One turn."""

    records: int
    """In those seconds."""
    seconds: float
    size: int
    """Bytes of a record."""
    server_seconds: float
    """Processor time of the server."""
    served: int
    """Records that this time was for."""

    @property
    def mb_s(self) -> float:
        return self.records * self.size / MIB / self.seconds

    @property
    def records_s(self) -> float:
        return self.records / self.seconds

    @property
    def server_ms_mb(self) -> float:
        return 1000 * self.server_seconds / (self.served * self.size / MIB)


@dataclass
class Series:
    """One contestant's turns in a row of the table."""

    samples: list[Sample] = field(default_factory=list)
    failure: str | None = None

    def middle(self, attribute: str) -> float | None:
        """The median of the rounds; None where there was none."""
        values = [getattr(one, attribute) for one in self.samples]
        return statistics.median(values) if values else None


Found = dict[str, dict[str, Series]]
"""By row, then contestant."""


def table(found: Found, absent: dict[str, str]) -> str:
    """As text."""
    names = _names(found)
    head, *rows = _cells(found, names)
    parts = [report.table("Throughput with real clients", head, rows), *_failures(found)]
    return "\n".join([*parts, *(f"Without {name}: {why}" for name, why in absent.items())])


def markdown(found: Found) -> str:
    """As a table of a page."""
    head, *rows = _cells(found, _names(found))
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(found: Found, absent: dict[str, str], rounds: int) -> str:
    """The text below the heading."""
    from tests.oracle.jars import REFERENCE

    told = machine()
    load = "unknown" if told["load"] is None else f"{told['load']:.1f}"
    failures = [*_failures(found), *(f"Without {name}: {why}" for name, why in absent.items())]
    return _TEXT.format(
        **{**told, "load": load},
        table=markdown(found),
        failures="".join(f"\n- {line}" for line in failures) + ("\n" if failures else ""),
        day=datetime.datetime.now(datetime.UTC).date(),
        kfake=kfake_version(),
        kafka=REFERENCE,
        rounds=rounds,
    )


def write(found: Found, absent: dict[str, str], rounds: int) -> None:
    """The section of docs/performance.md."""
    performance_page.put(HEADING, section(found, absent, rounds))


def _names(found: Found) -> list[str]:
    return list(dict.fromkeys(name for by_name in found.values() for name in by_name))


def _cells(found: Found, names: list[str]) -> Iterator[list[str]]:
    """The head, then a row for each."""
    others = [name for name in names if name != STUB and STUB in names]
    yield [
        "",
        *(f"{name} MB/s" for name in names),
        *(f"x {name}" for name in others),
        *([f"{STUB} records/s"] if STUB in names else []),
        *(f"{name} server ms/MB" for name in names),
    ]
    for row, by_name in found.items():
        ours = by_name.get(STUB, Series())
        yield [
            row,
            *(_number(by_name[name], "mb_s") for name in names),
            *(_ratio(ours, by_name[name]) for name in others),
            *([_number(ours, "records_s")] if STUB in names else []),
            *(_number(by_name[name], "server_ms_mb") for name in names),
        ]


def _number(series: Series, attribute: str) -> str:
    value = series.middle(attribute)
    if value is None:
        return "failed" if series.failure else report.NONE
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _ratio(ours: Series, theirs: Series) -> str:
    pairs = zip(ours.samples, theirs.samples, strict=False)
    ratios = [our.mb_s / their.mb_s for our, their in pairs]
    return f"{statistics.median(ratios):.2f}" if ratios else report.NONE


def _failures(found: Found) -> list[str]:
    return [
        f"{row}: {name} failed: {one.failure}"
        for row, by_name in found.items()
        for name, one in by_name.items()
        if one.failure is not None
    ]
