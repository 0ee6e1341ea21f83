"""The loads of `bench.throughput`: one base case, and each dimension varied from it.

The base case is one client of Kafka's perf tools, records of 1 KB, no compression, acks=all, one partition. The whole
cross product would be some five hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

JAVA, FRANZ, LIBRDKAFKA = "java", "franz-go", "librdkafka"
PRODUCE, CONSUME, SHARE = "produce", "consume", "share consume"
KB: Final = 1024


@dataclass(frozen=True)
class Load:
    """What is sent into a topic, and then read from it in some ways."""

    name: str
    records: int
    size: int = KB
    """Bytes of a record's value: capital letters at random, which compress to five bits each."""
    client: str = JAVA
    clients: int = 1
    """At the same time, on as many partitions."""
    compression: str = "none"
    acks: str = "all"
    transaction_ms: int | None = None
    """The age at which a transaction is committed; None for records without transactions."""
    told: tuple[str, ...] = (PRODUCE, CONSUME)
    """What is measured. Where PRODUCE is not among it, the records are there for what follows."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Their names in the table."""
        return tuple(f"{self.name}, {what}" for what in self.told)

    def part(self, share: float) -> Load:
        """The same with fewer records, a multiple of the number of clients."""
        return replace(self, records=max(1, int(self.records * share) // self.clients) * self.clients)


_MANY: Final = 120_000
"""Records of 1 KB that one client sends in one or two seconds."""

LOADS: Final = (
    Load("java 1 KB", _MANY),
    Load("java 100 B", 600_000, size=100),
    Load("java acks=1", _MANY, acks="1", told=(PRODUCE,)),
    Load("java gzip", 40_000, compression="gzip", told=(PRODUCE,)),
    Load("java snappy", _MANY, compression="snappy", told=(PRODUCE,)),
    Load("java lz4", _MANY, compression="lz4"),
    Load("java zstd", _MANY, compression="zstd", told=(PRODUCE,)),
    Load("java transactional", _MANY, transaction_ms=100),
    Load("java share group", _MANY, told=(SHARE,)),
    Load("java x 8", _MANY, clients=8),
    Load("java x 8 share group", _MANY, clients=8, told=(SHARE,)),
    Load("franz-go 1 KB", _MANY, client=FRANZ),
    Load("franz-go 100 B", 600_000, client=FRANZ, size=100),
    Load("franz-go x 8", 2 * _MANY, client=FRANZ, clients=8),
    Load("librdkafka 1 KB", _MANY, client=LIBRDKAFKA),
    Load("librdkafka 100 B", 600_000, client=LIBRDKAFKA, size=100),
)

WARM_UP: Final = (
    Load("warm-up java", _MANY, told=(PRODUCE, CONSUME, SHARE)),
    Load("warm-up franz-go", _MANY, client=FRANZ, clients=8),
    Load("warm-up librdkafka", _MANY, client=LIBRDKAFKA),
)
"""Runs on every contestant before the first round and is not told: virtual machines compile what is hot meanwhile."""
