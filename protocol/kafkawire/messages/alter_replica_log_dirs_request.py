"""AlterReplicaLogDirsRequest (key 34), versions 1-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message, Struct


class AlterReplicaLogDirTopic(Struct):
    __slots__ = ("name", "partitions")
    FIELDS = (
        ("name", "string", (1, 2), None, None, None),
        ("partitions", "[]int32", (1, 2), None, None, None),
    )

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterReplicaLogDir(Struct):
    __slots__ = ("path", "topics")
    FIELDS = (
        ("path", "string", (1, 2), None, None, None),
        ("topics", "[]AlterReplicaLogDirTopic", (1, 2), None, None, None),
    )

    def __init__(
        self,
        path: str = "",
        topics: Sequence[AlterReplicaLogDirTopic] = (),
    ) -> None:
        self.path = path
        self.topics = topics


class AlterReplicaLogDirsRequest(Message):
    __slots__ = ("dirs",)
    API_KEY = 34
    VERSIONS = (1, 2)
    FLEXIBLE = (2, 32767)
    FIELDS = (
        ("dirs", "[]AlterReplicaLogDir", (1, 2), None, None, None),
    )

    def __init__(
        self,
        dirs: Sequence[AlterReplicaLogDir] = (),
    ) -> None:
        self.dirs = dirs
