"""`stub.snapshot()` and `stub.restore(saved)`: take and restore the whole state of a stub."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kafkastub.config import BrokerConfig, Profile
from kafkastub.config.durations import datable
from kafkastub.stub.arguments import EPOCH
from kafkastub.stub.errors import StubError

if TYPE_CHECKING:
    from kafkastub.state.snapshots.saved import SavedState
    from kafkastub.stub.runner import AsyncRunner


class Snapshot:
    """All state of a stub that clients can see, at one moment. It never changes.

    You can make any number of stubs from it (`KafkaStub(snapshot=saved)`), and restore it any number of times.
    """

    def __init__(self, saved: SavedState) -> None:
        """Only `stub.snapshot()` and `Snapshot.load` call this."""
        self._saved = saved

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the snapshot to a file, and replace the file if it exists.

        Raises OSError, SnapshotError if it is too large.
        """
        from kafkastub.storage.disk.directory import replace_file

        replace_file(Path(path), self._bytes(), mode=0o600)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, most_bytes: int = 1 << 30) -> Self:
        """Return the snapshot in a file that `save` wrote.

        Broker time runs on from its value in the file, however old that is. Raises OSError, SnapshotError for a file
        that is no snapshot, or that decompresses to more than `most_bytes` bytes.
        """
        from kafkastub.state.snapshots.files import read_path
        from kafkastub.state.snapshots.holding import Limit

        return cls(read_path(path, BrokerConfig(None, Profile.named("kips")), Limit(most_bytes)))

    @classmethod
    def from_cluster(
        cls,
        bootstrap_servers: str | Sequence[str],
        path: str | os.PathLike[str] | None = None,
        *,
        records: Mapping[str, int | str] | None = None,
        redact: str | None = None,
        command_config: str | os.PathLike[str] | Mapping[str, str] | None = None,
        reach: Mapping[str, str] | None = None,
        timeout: float = 30,
    ) -> Self:
        """Return a snapshot of a real cluster: topics, configurations, groups with their offsets, transactions, share
        groups, ACLs, quotas and schemas; records only of the topics in `records` (docs/incident.md).

        It only reads, and it blocks: use `asyncio.to_thread` inside an event loop. `missing` says what the cluster
        did not let it read. Raises kafkastub.client.ClientError if the cluster does not answer, SnapshotError if there
        is too much, ConfigError, ValueError, and OSError of the file.

        Args:
            bootstrap_servers: "HOST:PORT", several of them separated by commas or as a sequence.
            path: a file to write the snapshot to.
            records: "all", "none" or the number of newest records of each partition, by topic; "*" stands for all other
                topics. By default, topics are empty and have the offsets of the cluster, except `_schemas`.
            redact: "values" replaces values and the values of headers with asterisks, "all" also replaces keys with
                digests.
            command_config: the path or the contents of a properties file of a Kafka client, for TLS and SASL.
            reach: addresses at which nodes are reached, by the addresses that they advertise ("HOST:PORT").
            timeout: the seconds that each request may take.
        """
        from kafkastub.cluster_snapshots.of_cluster import of_cluster

        options: dict[str, Any] = {"records": records, "redact": redact, "command_config": command_config}
        return cls._written(
            path, lambda file: of_cluster(bootstrap_servers, file, reach=reach, timeout=timeout, **options)
        )

    @classmethod
    def from_raw(cls, folder: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> Self:
        """Return a snapshot of saved records of `__consumer_offsets`: groups with their offsets, and the topics that
        they have committed on, without records (docs/incident.md).

        `folder` has the Parquet files that the pipeline reads with `--raw`. Broker time is that of the newest record.
        `path` is a file to write the snapshot to. Raises ImportError without pyarrow (extra `journal`), ValueError for
        other files, SnapshotError, OSError.
        """
        from kafkastub.cluster_snapshots.of_raw import of_raw

        return cls._written(path, lambda file: of_raw(folder, file))

    @classmethod
    def _written(cls, path: str | os.PathLike[str] | None, write: Callable[[Path], object]) -> Self:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="kafkastub-snapshot-") as folder:
            file = Path(folder, "snapshot") if path is None else Path(path)
            write(file)
            return cls.load(file)

    def _bytes(self) -> bytes:
        from kafkastub.state.snapshots.files import write

        content = io.BytesIO()
        write(self._saved, content)
        return content.getvalue()

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: as a file."""
        return _unpacked, (self._bytes(), self._saved.clock)

    @property
    def now(self) -> datetime:
        """Broker time at the moment of the snapshot."""
        return EPOCH + timedelta(milliseconds=datable(self._saved.broker_ms))

    @property
    def topics(self) -> dict[str, int]:
        """The topics that users see, with their numbers of partitions."""
        topics = (one.topic for one in self._saved.topics)
        return {topic.name: len(topic.partitions) for topic in topics if not topic.internal}

    @property
    def missing(self) -> list[tuple[str, str]]:
        """What `from_cluster` could not read: what it is, and why."""
        return list(self._saved.missing)

    def __repr__(self) -> str:
        return f"<Snapshot of {self.now:%Y-%m-%dT%H:%M:%SZ} with {_counted(len(self.topics))}>"


def _counted(topics: int) -> str:
    return "1 topic" if topics == 1 else f"{topics} topics"


def _unpacked(content: bytes, clock: tuple[int | None, int | None]) -> Snapshot:
    from kafkastub.state.snapshots.files import read
    from kafkastub.state.snapshots.holding import Limit

    saved = read(io.BytesIO(content), "it", BrokerConfig(None, Profile.named("kips")), Limit(len(content) << 10))
    return Snapshot(saved._replace(clock=clock))


def given(snapshot: object) -> SavedState | None:
    """Return the state to start from: that of a snapshot, or of the file at a path.

    Raises TypeError, OSError, SnapshotError.
    """
    return None if snapshot is None else _saved(snapshot, "snapshot=")


def configured(saved: SavedState | None, given: Mapping[str, object] | None, config: BrokerConfig) -> BrokerConfig:
    """Return the configuration of a stub that starts from a state: of a real cluster, its brokers' values are defaults.

    Raises ConfigError.
    """
    if saved is None or not saved.properties:
        return config
    from kafkastub.state.snapshots.configured import configured as beneath

    return beneath(saved, given, config.profile.name)


def _saved(snapshot: object, before: str) -> SavedState:
    if isinstance(snapshot, str | os.PathLike):
        snapshot = Snapshot.load(snapshot)
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"{before}{snapshot!r:.100}: expected the result of stub.snapshot() or the path of a file")
    return snapshot._saved


def take(runner: AsyncRunner) -> Snapshot:
    """Return a snapshot. Raises SnapshotError, StubError."""
    broker = runner.running()
    return Snapshot(runner.call(broker.snapshot))


def restore(runner: AsyncRunner, snapshot: Snapshot | str | os.PathLike[str]) -> None:
    """Restore a snapshot. Raises SnapshotError, StubError, TypeError, OSError."""
    saved = _saved(snapshot, "restore: ")
    runner.call_async(lambda broker: broker.restore(saved))


def is_running(runner: AsyncRunner) -> bool:
    """Whether a broker runs that can be restored."""
    try:
        runner.running()
    except StubError:
        return False
    return True
