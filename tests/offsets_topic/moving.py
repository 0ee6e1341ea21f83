"""`__consumer_offsets` carried from one broker to another as segment files, with the topics' ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path

from kafkawire.records import NewRecord, build_batch
from tests.oracle.apache_kafka import ApacheKafka

SEGMENT = "00000000000000000000.log"
_KAFKAS_NOTES = (
    *("recovery-point-offset-checkpoint", "replication-offset-checkpoint", "cleaner-offset-checkpoint"),
    ".kafka_cleanshutdown",
)
"""What Kafka remembers of its logs, and finds out anew where it is missing."""


def logs_of(folder: Path, topic: str = "__consumer_offsets") -> dict[int, bytes]:
    """The bytes of each partition's segments, in a folder of Kafka's or in a data directory."""
    return {
        int(partition.name.rpartition("-")[2]): b"".join(log.read_bytes() for log in sorted(partition.glob("*.log")))
        for partition in folder.glob(f"{topic}-*")
    }


def logs_from(partitions: list[list[list[tuple[str, str | None, int]]]]) -> dict[int, bytes]:
    """The same, of what was written down of a topic."""
    found = {}
    for partition, batches in enumerate(partitions):
        written, at = b"", 0
        for batch in batches:
            new = [NewRecord(bytes.fromhex(k), None if v is None else bytes.fromhex(v), time) for k, v, time in batch]
            written += build_batch(new, base_offset=at)
            at += len(new)
        found[partition] = written
    return found


def put_into_data_dir(
    folder: Path, logs: Mapping[int, bytes], topic_ids: Mapping[bytes, str], topic: str = "__consumer_offsets"
) -> None:
    """Into the data directory of a stub that has ended, and that has the topics."""
    document = folder / "kafkastub.json"
    told = json.loads(document.read_text())
    ids = {name: base64.urlsafe_b64encode(topic_id).decode().rstrip("=") for topic_id, name in topic_ids.items()}
    for one in told["topics"]:
        one["id"] = ids.get(one["name"], one["id"])
    document.write_text(json.dumps(told))
    for partition, written in logs.items():
        place = folder / f"{topic}-{partition}"
        place.mkdir(exist_ok=True)
        for old in place.iterdir():
            old.unlink()
        (place / SEGMENT).write_bytes(written)


def put_into_kafka(kafka: ApacheKafka, logs: Mapping[int, bytes], topic: str = "__consumer_offsets") -> None:
    """Into a Kafka that has ended, and that has the topics with the same ids."""
    assert kafka.folder is not None
    folder = kafka.folder / "logs"
    for name in _KAFKAS_NOTES:
        (folder / name).unlink(missing_ok=True)
    for partition, written in logs.items():
        place = folder / f"{topic}-{partition}"
        for old in place.iterdir():
            if old.name != "partition.metadata":
                old.unlink()
        (place / SEGMENT).write_bytes(written)
