"""A state that each version writes to disk, and what later versions have to find in it.

`python -m tests.upgrades.state` writes what this version makes of it, `tests/upgrades/VERSION.tar.xz`. Do that before
the version is released, and never again.
"""

from __future__ import annotations

import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import KafkaStub
from kafkastub.version import __version__

HERE: Final = Path(__file__).parent
DATA: Final = "data"
SNAPSHOT: Final = "snapshot"
JOURNAL: Final = "journal"
ORDERS: Final = 20


def write(folder: Path) -> None:
    """A data directory, a snapshot and a journal, all of one broker."""
    with KafkaStub(topics={"orders": 2, "bills": 1}, data_dir=folder / DATA, journal=folder / JOURNAL) as stub:
        stub.clock.freeze()
        stub.create_topic("compacted", 1, configs={"cleanup.policy": "compact"})
        _use(stub)
        stub.snapshot().save(folder / SNAPSHOT)


def _use(stub: KafkaStub) -> None:
    client = {"bootstrap.servers": stub.bootstrap_servers}
    producer = Producer({**client, "transactional.id": "shop", "compression.type": "zstd"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(ORDERS):
        producer.produce("orders", f"order {number}", key=str(number), partition=number % 2)
    producer.commit_transaction(30)
    producer.begin_transaction()
    producer.produce("bills", "never", partition=0)
    producer.flush(30)
    producer.abort_transaction(30)
    stub.produce("compacted", "old", key="k")
    stub.produce("compacted", "new", key="k")
    consumer = Consumer({**client, "group.id": "shipping"})
    consumer.commit(offsets=[TopicPartition("orders", 0, 7, metadata="seven")], asynchronous=False)
    consumer.close()
    stub.set_quota(client_id="loader", producer_byte_rate=1_000_000)


def look(stub: KafkaStub) -> None:
    """Assert that a broker with it has all that was there."""
    values = {record.value for record in stub.records("orders") if record.value is not None}
    assert {f"order {number}".encode() for number in range(ORDERS)} <= values
    assert stub.records("compacted")[-1].value == b"new"
    assert stub.transactions["shop"].state == "CompleteAbort"
    consumer = Consumer({"bootstrap.servers": stub.bootstrap_servers, "group.id": "shipping"})
    (committed,) = consumer.committed([TopicPartition("orders", 0)], timeout=30)
    consumer.close()
    assert (committed.offset, committed.metadata) == (7, "seven")


def main() -> None:
    with TemporaryDirectory() as folder:
        write(Path(folder))
        with tarfile.open(HERE / f"{__version__}.tar.xz", "w:xz") as archive:
            for name in (DATA, SNAPSHOT, JOURNAL):
                archive.add(Path(folder) / name, name)
    print(f"{__version__}.tar.xz: {(HERE / f'{__version__}.tar.xz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
