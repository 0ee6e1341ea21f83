"""Random requests about who may do what: ACLs, quotas, SCRAM users, reassignments and elections. Fresh brokers only.

Entries, quotas and users belong to the whole broker: `take_away` is for the time between two scenarios.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, TypeVar

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.broker import Ask
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.script import Script

T = TypeVar("T")

STEPS = 40
ANYTHING: dict[str, Json] = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}
"""The filter of ACLs that matches all."""

PRINCIPALS = (
    "User:alice", "User:bob", "User:*", "alice", "User:", "Group:x", ":x", "User:a:b", "User:CN=a,O=b",
    "User:ANONYMOUS", "",
)  # fmt: skip
HOSTS = ("*", "127.0.0.1", "10.0.0.1", "host", "", "::1")
RESOURCES = ("t", "t1", "kafka-cluster", "g", "tx", "*", "x y", "a" * 300, "", "alice", "User:alice")
ENTITIES = ("alice", "bob", None, "", "127.0.0.1", "10.0.0.1", "1.2.3", "::1", "a b", "a" * 200, "<default>")
QUOTAS = (
    "producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate",
    "connection_creation_rate", "nope", "",
)  # fmt: skip
RATES = (1.0, 0.0, -1.0, 1.5, 1e18, 1e19, 9.3e18, float("inf"), 100.0, 1e-5, 0.5, 2.0**31 - 1, 2.0**31, 1e300)
USERS = ("alice", "bob", "", "a,b", "a=b", "ü", "x" * 100)
TOPICS = ("t1", "t2", "nope", "", "a b")
CHANGING = (
    "CreateAcls", "DeleteAcls", "AlterClientQuotas", "AlterUserScramCredentials", "AlterPartitionReassignments",
)  # fmt: skip


def access_script(seed: int, steps: int = STEPS) -> Script:
    """So many requests, of one seed."""
    return Script(f"access-{seed}", lambda play: Access(play, seed).run(steps), (), "access")


def take_away(ask: Ask) -> None:
    """All entries, quotas and users."""
    ask("DeleteAcls", {"filters": [ANYTHING]})
    for entry in ask("DescribeClientQuotas", {"components": []}).get("entries", ()):
        ops = [{"key": value["key"], "remove": True} for value in entry["values"]]
        ask("AlterClientQuotas", {"entries": [{"entity": entry["entity"], "ops": ops}]})
    users = ask("DescribeUserScramCredentials", {"users": None}).get("results", ())
    for mechanism in (1, 2):
        gone = [
            {"name": one["user"], "mechanism": mechanism}
            for one in users
            if mechanism in [known["mechanism"] for known in one["credential_infos"]]
        ]
        ask("AlterUserScramCredentials", {"deletions": gone})


class Access:
    """One scenario."""

    def __init__(self, play: Play, seed: int) -> None:
        self.play = play
        self.random = random.Random(f"access-{seed}")

    def run(self, steps: int) -> None:
        """Ask."""
        weights: dict[Callable[[], tuple[str, dict[str, Json]]], int] = {
            self.create_acls: 4,
            self.delete_acls: 2,
            self.describe_acls: 5,
            self.alter_quotas: 5,
            self.describe_quotas: 5,
            self.alter_users: 3,
            self.describe_users: 3,
            self.reassign: 2,
            self.reassignments: 2,
            self.elect: 2,
            self.partitions: 2,
            self.cluster: 1,
            self.handshake: 1,
            self.authenticate: 1,
        }
        for ask in self.random.choices(list(weights), list(weights.values()), k=steps):
            self._ask(*ask())

    def _ask(self, api: str, body: dict[str, Json]) -> Json:
        version = self.random.choice(self.play.versions(api))
        return self.play.ask("a1", api, version, body, settle=api in CHANGING)

    # What is chosen.

    def pick(self, *items: T) -> T:
        return self.random.choice(items)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def some(self, make: Callable[[], Json], most: int = 3) -> list[Json]:
        return [make() for _ in range(self.random.randint(0, most))]

    def mostly(self, usual: tuple[Any, ...], odd: tuple[Any, ...], p: float = 0.15) -> Any:
        """Of the usual ones; now and then an odd one."""
        return self.random.choice(odd if self.chance(p) else usual)

    # ACLs.

    def create_acls(self) -> tuple[str, dict[str, Json]]:
        return "CreateAcls", {"creations": self.some(self._entry)}

    def _entry(self) -> Json:
        return {
            "resource_type": self.mostly((2, 2, 3, 4, 5, 6, 7), (0, 1, 8, 99, -1)),
            "resource_name": self.mostly(RESOURCES[:4], RESOURCES, 0.4),
            "resource_pattern_type": self.mostly((3, 3, 4), (0, 1, 2, 5, -1)),
            "principal": self.mostly(PRINCIPALS[:3], PRINCIPALS, 0.3),
            "host": self.pick(*HOSTS),
            "operation": self.mostly((2, 3, 4, 5, 6, 7, 8, 12), (*range(18), -1), 0.3),
            "permission_type": self.mostly((2, 3), (0, 1, 4, -1)),
        }

    def delete_acls(self) -> tuple[str, dict[str, Json]]:
        return "DeleteAcls", {"filters": self.some(self._filter)}

    def describe_acls(self) -> tuple[str, dict[str, Json]]:
        return "DescribeAcls", self._filter()

    def _filter(self) -> dict[str, Json]:
        like = self._entry()
        found = dict(ANYTHING)
        for field in ANYTHING:
            if self.chance(0.4):
                found[field] = like[
                    {"pattern_type_filter": "resource_pattern_type"}.get(field, field.removesuffix("_filter"))
                ]
        if self.chance(0.3):
            found["pattern_type_filter"] = 2  # whatever a resource of that name matches
        return found

    # Quotas.

    def alter_quotas(self) -> tuple[str, dict[str, Json]]:
        return "AlterClientQuotas", {"entries": self.some(self._quota), "validate_only": self.chance(0.2)}

    def _quota(self) -> Json:
        kinds = [
            self.mostly(("user", "client-id"), ("ip", "User", "group", ""), 0.2)
            for _ in range(self.pick(0, 1, 1, 1, 2, 2, 3))
        ]
        if self.chance(0.25):
            kinds = ["ip"]
        names = [self.mostly(ENTITIES[:3], ENTITIES, 0.5) for _ in kinds]
        entity = [{"entity_type": kind, "entity_name": name} for kind, name in zip(kinds, names, strict=True)]
        changes = self.some(self._change)
        # Of ours they must not be small: how long who has to wait is told by how busy the machine is.
        if not {None, "127.0.0.1"}.isdisjoint(names):
            changes = [one | {"value": float(self.random.randint(10**8, 10**9))} for one in changes]
        return {"entity": entity, "ops": changes}

    def _change(self) -> Json:
        value = self.pick(*RATES) if self.chance(0.5) else float(self.random.randint(1, 10**6))
        return {"key": self.mostly(QUOTAS[:3], QUOTAS, 0.4), "value": value, "remove": self.chance(0.3)}

    def describe_quotas(self) -> tuple[str, dict[str, Json]]:
        def component() -> Json:
            return {
                "entity_type": self.mostly(("user", "client-id", "ip"), ("User", "group", "")),
                "match_type": self.mostly((0, 1, 2), (3, -1)),
                "match": self.pick(*ENTITIES) if self.chance(0.6) else None,
            }

        return "DescribeClientQuotas", {"components": self.some(component), "strict": self.chance(0.4)}

    # SCRAM users.

    def alter_users(self) -> tuple[str, dict[str, Json]]:
        def deletion() -> Json:
            return {"name": self.pick(*USERS), "mechanism": self.mostly((1, 2), (0, 3, -1))}

        def upsertion() -> Json:
            return {
                **deletion(),
                "iterations": self.mostly((4096, 8192, 16384), (16385, 0, -1, 4095)),
                "salt": self.pick("00" * 16, "", "ff"),
                "salted_password": self.pick("11" * 32, "11" * 64, "11", ""),
            }

        deletions, upsertions = self.some(deletion, 2), self.some(upsertion, 2)
        # Kafka's brokers lose what is put in beside the last one of its mechanism that goes, where the map has that
        # before it; the controller has it still, for all plays to come. (ScramDelta.apply: the emptied map is taken
        # out, and filled.)
        gone = {one["mechanism"] for one in deletions}
        for one in upsertions:
            if one["mechanism"] in gone:
                one["mechanism"] = next(iter({1, 2} - gone), 3)
        return "AlterUserScramCredentials", {"deletions": deletions, "upsertions": upsertions}

    def describe_users(self) -> tuple[str, dict[str, Json]]:
        users = None if self.chance(0.3) else self.some(lambda: {"name": self.pick(*USERS)})
        return "DescribeUserScramCredentials", {"users": users}

    # The only node has all replicas, and leads.

    def reassign(self) -> tuple[str, dict[str, Json]]:
        def partition() -> Json:
            replicas = self.pick(None, ["<node>"], [], ["<node>", "<node>"], ["<stranger>"], ["<node>", "<stranger>"])
            return {"partition_index": self.pick(0, 0, 1, 2, 7, -1), "replicas": replicas}

        topics = self.some(lambda: {"name": self.pick(*TOPICS), "partitions": self.some(partition)})
        return "AlterPartitionReassignments", {"topics": topics, "allow_replication_factor_change": self.chance(0.6)}

    def reassignments(self) -> tuple[str, dict[str, Json]]:
        def topic() -> Json:
            return {"name": self.pick(*TOPICS), "partition_indexes": self.some(lambda: self.pick(0, 1, 2, 7, -1))}

        return "ListPartitionReassignments", {"topics": None if self.chance(0.3) else self.some(topic)}

    def elect(self) -> tuple[str, dict[str, Json]]:
        def topic() -> Json:
            return {"topic": self.pick(*TOPICS), "partitions": self.some(lambda: self.pick(0, 1, 2, 7, -1))}

        return "ElectLeaders", {
            "election_type": self.mostly((0, 1), (2, -1), 0.3),
            "topic_partitions": None if self.chance(0.2) else self.some(topic),
            "timeout_ms": self.pick(60000, 60000, 0, -1),
        }

    # What an authorizer changes in answers about other things; what nobody may ask here.

    def partitions(self) -> tuple[str, dict[str, Json]]:
        cursor = {"topic_name": self.pick(*TOPICS), "partition_index": self.pick(0, 1, 7, -1)}
        return "DescribeTopicPartitions", {
            "topics": self.some(lambda: {"name": self.pick(*TOPICS)}) or [{"name": "t1"}],
            "response_partition_limit": self.pick(2000, 2, 1, 0, -1),
            "cursor": cursor if self.chance(0.3) else None,
        }

    def cluster(self) -> tuple[str, dict[str, Json]]:
        return "DescribeCluster", {
            "include_cluster_authorized_operations": self.chance(0.5),
            "endpoint_type": self.pick(0, 1, 2, 3),
            "include_fenced_brokers": self.chance(0.5),
        }

    def handshake(self) -> tuple[str, dict[str, Json]]:
        return "SaslHandshake", {"mechanism": self.pick("PLAIN", "SCRAM-SHA-256", "GSSAPI", "", "nope")}

    def authenticate(self) -> tuple[str, dict[str, Json]]:
        return "SaslAuthenticate", {"auth_bytes": self.pick("", "00", "0061006200")}
