"""A Kafka broker stub for integration tests.

from kafkastub import KafkaStub

with KafkaStub(topics={"orders": 3}) as stub:
    client = connect(stub.bootstrap_servers)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafkastub.config import ConfigError
    from kafkastub.faults import ChaosAct, FaultError, FaultRule
    from kafkastub.guarantees import Finding, GuaranteeBroken, Verdict
    from kafkastub.journal import JournalTimeout
    from kafkastub.registry.errors import RegistryError
    from kafkastub.state.snapshots.saved import SnapshotError
    from kafkastub.storage import DataDirError
    from kafkastub.stub.errors import (
        FaultTimeout,
        GroupTimeout,
        RecordsTimeout,
        StubError,
        TopicError,
        TopicTimeout,
        TransactionTimeout,
    )
    from kafkastub.stub.in_front.proxy import KafkaProxy
    from kafkastub.stub.in_front.refusing import NotInFront
    from kafkastub.stub.replaying import replay
    from kafkastub.stub.snapshots import Snapshot
    from kafkastub.stub.stub import KafkaStub
    from kafkastub.version import __version__

__all__ = [
    "ChaosAct",
    "ConfigError",
    "DataDirError",
    "FaultError",
    "FaultRule",
    "FaultTimeout",
    "Finding",
    "GroupTimeout",
    "GuaranteeBroken",
    "JournalTimeout",
    "KafkaProxy",
    "KafkaStub",
    "NotInFront",
    "RecordsTimeout",
    "RegistryError",
    "Snapshot",
    "SnapshotError",
    "StubError",
    "TopicError",
    "TopicTimeout",
    "TransactionTimeout",
    "Verdict",
    "__version__",
    "replay",
]

_OF_THE_STUB = {
    "FaultTimeout", "GroupTimeout", "RecordsTimeout", "StubError", "TopicError", "TopicTimeout", "TransactionTimeout",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # Nothing is loaded before it is used: importing a room must not cost the price of the house.
    if name == "ConfigError":
        from kafkastub.config import ConfigError

        return ConfigError
    if name in ("ChaosAct", "FaultError", "FaultRule"):
        from kafkastub import faults

        return getattr(faults, name)
    if name in ("Finding", "GuaranteeBroken", "Verdict"):
        from kafkastub import guarantees

        return getattr(guarantees, name)
    if name == "DataDirError":
        from kafkastub.storage import DataDirError

        return DataDirError
    if name == "JournalTimeout":
        from kafkastub.journal import JournalTimeout

        return JournalTimeout
    if name == "RegistryError":
        from kafkastub.registry.errors import RegistryError

        return RegistryError
    if name == "Snapshot":
        from kafkastub.stub.snapshots import Snapshot

        return Snapshot
    if name == "SnapshotError":
        from kafkastub.state.snapshots.saved import SnapshotError

        return SnapshotError
    if name == "replay":
        from kafkastub.stub.replaying import replay

        return replay
    if name in _OF_THE_STUB:
        from kafkastub.stub import errors

        return getattr(errors, name)
    if name == "KafkaProxy":
        from kafkastub.stub.in_front.proxy import KafkaProxy

        return KafkaProxy
    if name == "NotInFront":
        from kafkastub.stub.in_front.refusing import NotInFront

        return NotInFront
    if name == "KafkaStub":
        from kafkastub.stub.stub import KafkaStub

        return KafkaStub
    if name == "__version__":
        from kafkastub.version import __version__

        return __version__
    raise AttributeError(f"module 'kafkastub' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
