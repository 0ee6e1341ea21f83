"""Random scenarios of a cluster's administration: features, the quorum, nodes taken out, log directories, tokens.

Where users can sign in, alice, bob and root ask for delegation tokens, renew them and let them end; elsewhere that is
refused. A guest asks for features only as a dry run, and takes no node out that there may be.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import NotThere, Play
from kafkastub_conformance.differential.script import Script

STEPS = 40

FEATURES = (
    "metadata.version", "kraft.version", "group.version", "share.version", "streams.version", "transaction.version",
    "eligible.leader.replicas.version",
)  # fmt: skip
LEVELS = (0, 0, 1, 1, 2, 3, 7, 30, 33, 34, -1, 32767, -32768)
ELSEWHERE = "0102030405060708090a0b0c0d0e0f10"
HOUR = 3_600_000
LONGEST = 2**63 - 1
USERS = ("alice", "bob", "root")
TOPIC = "<p>logs"
PARTITIONS = 3
USER, TOKEN = 7, 6
"""Types of resources that ACLs are about."""


def admin_script(seed: int, steps: int = STEPS) -> Script:
    """The scenario of one seed."""
    return Script(f"admin-{seed}", lambda play: Admin(play, seed).run(steps), (), "admin")


class Admin(Places):
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        super().__init__(play, random.Random(f"admin-{seed}"))
        self.folders: list[str] = []
        """The broker's log directories."""
        self.placed = False
        """Whether the topic has logs."""
        self.tokens: list[tuple[str, str]] = []
        """By name, with who owns it."""

    def run(self, steps: int) -> None:
        """Place a topic, play until there are so many steps, and let the tokens end."""
        weights: dict[Callable[[], object], int] = {
            self.update_features: 8,
            self.versions: 4,
            self.quorum: 4,
            self.unregister: 3,
            self.voters: 3,
            self.move_logs: 6,
            self.describe_logs: 3,
            self.create_token: 9,
            self.renew_token: 6,
            self.expire_token: 5,
            self.describe_tokens: 7,
            self.allow: 3,
            self.disallow: 1,
        }
        with contextlib.suppress(NotThere):
            self.place_topic()
        self.play.fill(steps, self.random, weights)
        for name, owner in list(self.tokens):
            with contextlib.suppress(NotThere):
                self._expire(owner, name, -1)

    def mostly(self, usual: str = "a1", p: float = 0.85) -> str:
        """Somebody who may do everything, or mostly one who may not."""
        return usual if self.chance(p) else self.pick(("root", "alice", "bob"))

    # Features, the quorum, nodes.

    def update_features(self) -> None:
        """Mostly one feature, mostly one that there is."""
        version = self.version("UpdateFeatures")
        rows: list[Json] = []
        for _ in range(self.pick((0, 1, 1, 1, 1, 2, 2, 3))):
            row = {
                "feature": self.pick(FEATURES) if self.chance(0.9) else self.pick(("no.such", "", "group")),
                "max_version_level": self.pick(LEVELS),
            }
            row |= {"upgrade_type": self.pick((1, 1, 1, 2, 2, 3, 3, 0, 4, -1))} if version else {}
            if not version:
                row["allow_downgrade"] = self.chance(0.5)
            rows.append(row)
        body: dict[str, Json] = {"timeout_ms": self.pick((60000, 60000, 0)), "feature_updates": rows}
        if version:
            body["validate_only"] = self.chance(0.5)
        settle = not body.get("validate_only")
        self.play.ask(self.mostly(), "UpdateFeatures", version, body, settle=settle)
        if settle and self.chance(0.7):
            self.versions()

    def versions(self) -> None:
        """The features that there are, and their levels."""
        body = {"client_software_name": "differential", "client_software_version": "1"}
        self.play.ask(self.mostly(), "ApiVersions", self.version("ApiVersions", 3), body)

    def quorum(self) -> None:
        """Of the one partition that there is, or of others."""
        topics: list[Json] = [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]
        if self.chance(0.4):
            topics = [
                {
                    "topic_name": self.pick(("__cluster_metadata", "t1", "nope", "")),
                    "partitions": [{"partition_index": self.pick((0, 0, 1, -1))} for _ in range(self.pick((0, 1, 2)))],
                }
                for _ in range(self.pick((0, 1, 1, 2)))
            ]
        self.play.ask(self.mostly(), "DescribeQuorum", self.version("DescribeQuorum"), {"topics": topics})

    def unregister(self) -> None:
        """A broker or a controller that is not there; of controllers also the one that is active."""
        nodes: tuple[Json, ...] = ("<stranger>", 7, 1000, -1, -(2**31), 2**31 - 1)
        if self.chance(0.6):
            self.play.ask(self.mostly(), "UnregisterBroker", 0, {"broker_id": self.pick(nodes)})
        else:
            asked = {"controller_id": self.pick((*nodes, "<node>"))}
            self.play.ask(self.mostly(), "UnregisterController", self.version("UnregisterController"), asked)

    def voters(self) -> None:
        """Those that are refused without a look at who votes."""
        body: dict[str, Json] = {"cluster_id": self.pick((None, None, "", "other"))}
        voter, directory = self.pick(((-1, ELSEWHERE), (1, "00" * 16), (-1, "00" * 16), (2, ELSEWHERE)))
        if body["cluster_id"] is None and (voter, directory) == (2, ELSEWHERE):
            voter = -1
        body |= {"voter_id": voter, "voter_directory_id": directory}
        api = self.pick(("AddRaftVoter", "RemoveRaftVoter"))
        if api == "AddRaftVoter":
            listeners = [{"name": "CONTROLLER", "host": "nowhere", "port": 1}] if self.chance(0.5) else []
            body |= {"timeout_ms": 1000, "listeners": listeners}
        self.play.ask(self.mostly(), api, self.version(api), body)

    # Log directories.

    def place_topic(self) -> None:
        """A topic whose partitions are where we have wished, not where a broker would have them."""
        self.play.ask("a1", "DescribeLogDirs", self.version("DescribeLogDirs", 1), {"topics": None})
        told = next(iter(self.play.answers))[1].get("results", ())
        self.folders = [one["log_dir"] for one in told if one.get("log_dir", "").startswith("<dir ")]
        if self.folders:
            rows = [self._row(self.pick(self.folders), (TOPIC, [index])) for index in range(PARTITIONS)]
            self._move("a1", rows)
        verbs.create_topic(self.play, "a1", TOPIC, PARTITIONS)
        self._await_logs()

    def move_logs(self) -> None:
        """Into a directory that there is, or another; of partitions that there are, or others."""
        rows = []
        for _ in range(self.pick((0, 1, 1, 1, 2, 3))):
            usual = self.folders and self.chance(0.8)
            path = self.pick(self.folders) if usual else self.pick(("/nowhere", "", "relative", "<dir 1>/"))
            topics = [self._wanted() for _ in range(self.pick((1, 1, 2)))]
            rows.append(self._row(path, *topics))
        self._move(self.mostly(), rows)

    def _wanted(self) -> tuple[str, list[int]]:
        topic = TOPIC if self.chance(0.8) else self.pick(("<p>nope", "", "a b", "x" * 213, "<p>" + "y" * 250))
        return topic, [self.pick((0, 0, 1, 1, 2, 2, 3, 9, -1)) for _ in range(self.pick((1, 1, 2, 0)))]

    def _row(self, path: str, *topics: tuple[str, list[int]]) -> Json:
        return {"path": path, "topics": [{"name": name, "partitions": indexes} for name, indexes in topics]}

    def _move(self, on: str, rows: list[Json]) -> None:
        """And wait until all are there: Kafka copies behind the answer."""
        self.play.ask(on, "AlterReplicaLogDirs", self.version("AlterReplicaLogDirs"), {"dirs": rows})
        if self.placed:
            self._await_logs()

    def _await_logs(self) -> None:
        """Kafka makes and copies logs behind its answers."""
        version = self.version("DescribeLogDirs", 1)
        self.play.poll("a1", "DescribeLogDirs", version, {"topics": self._all()}, _are_in_place)
        self.placed = True

    def _all(self) -> Json:
        return [{"topic": TOPIC, "partitions": list(range(PARTITIONS))}]

    def describe_logs(self) -> None:
        """Of our topic."""
        topics = self._all() if self.chance(0.7) else self.pick((None, [], [{"topic": "nope", "partitions": [0]}]))
        version = self.version("DescribeLogDirs", 1)
        self.play.ask(self.mostly(), "DescribeLogDirs", version, {"topics": topics})

    # Delegation tokens.

    def user(self) -> str:
        """Who asks for tokens: seldom somebody who has not signed in."""
        return self.pick(("alice", "alice", "alice", "bob", "bob", "root", "a1")) if self.chance(0.9) else "a1"

    def create_token(self) -> None:
        """For oneself or, from version 3 on, for others; with renewers or without."""
        on, version = self.user(), self.version("CreateDelegationToken")
        others = (("User", "alice"), ("User", "bob"), ("User", "bob"), ("User", "dora"))
        odd = (("Group", "x"), ("User", ""), ("", "bob"))
        renewers = [self.pick(others) if self.chance(0.95) else self.pick(odd) for _ in range(self.pick((0, 0, 1, 2)))]
        body: dict[str, Json] = {
            "renewers": [{"principal_type": kind, "principal_name": name} for kind, name in renewers],
            "max_lifetime_ms": self.pick((-1, -1, -1, HOUR, 3 * HOUR, 40 * HOUR, 1000 * HOUR, 0, LONGEST, -LONGEST, 1)),
        }
        owner = on
        if version >= 3:
            kind, name = None, None
            if self.chance(0.4):
                kind, name = self.pick((("User", "dora"), ("User", "alice"), ("User", "bob"), ("User", on)))
            elif self.chance(0.1):
                kind, name = self.pick(((None, "x"), ("Group", "x"), ("User", None), ("", "x"), ("User", "")))
            body |= {"owner_principal_type": kind, "owner_principal_name": name}
            owner = name if kind == "User" and name in USERS else owner
            if name not in (None, on) and body["max_lifetime_ms"] == 1:
                body["max_lifetime_ms"] = HOUR  # only its owner could await its end
        self.play.ask(on, "CreateDelegationToken", version, body, settle=True)
        for _, answer in list(self.play.answers):
            if answer.get("token_id"):
                self.tokens.append((answer["hmac"], owner))
                if body["max_lifetime_ms"] == 1:
                    self._await_end(on, answer["hmac"])

    def _token(self) -> tuple[str, str]:
        """A token's hmac, and who asks about it: mostly the owner of one that there is."""
        name, owner = self.pick(self.tokens) if self.tokens else ("", "alice")
        if self.chance(0.1) or not name:
            name = self.pick(("", "00", "ff" * 64))
        return name, owner if self.chance(0.65) else self.user()

    def renew_token(self) -> None:
        """For a number of hours, or as long as it may be."""
        name, on = self._token()
        version = self.version("RenewDelegationToken")
        period = self.pick((-1, HOUR, 2 * HOUR, 20 * HOUR, 1000 * HOUR, 0, LONGEST))
        body = {"hmac": name, "renew_period_ms": period}
        self.play.ask(on, "RenewDelegationToken", version, body, settle=True)

    def expire_token(self) -> None:
        """At once, or in a while."""
        name, on = self._token()
        period = self.pick((-1, -1, 0, 0, HOUR, 30 * HOUR, LONGEST, -LONGEST))
        self._expire(on, name, period)
        if period == 0:
            self._await_end(on, name)

    def _expire(self, on: str, name: str, period: int) -> None:
        body = {"hmac": name, "expiry_time_period_ms": period}
        self.play.ask(on, "ExpireDelegationToken", self.version("ExpireDelegationToken"), body, settle=True)
        if period < 0 and not any(answer.get("error_code") for _, answer in self.play.answers):
            self.tokens = [one for one in self.tokens if one[0] != name]

    def _await_end(self, on: str, name: str) -> None:
        """Of the millisecond that a token ends at: it is over in the next."""
        body = {"hmac": name, "expiry_time_period_ms": 0}
        self.play.poll(on, "ExpireDelegationToken", self.version("ExpireDelegationToken"), body, _is_refused)

    def describe_tokens(self) -> None:
        """All that one may see, or those of some people."""
        owners: Json = None
        if self.chance(0.5):
            people = (("User", "alice"), ("User", "bob"), ("User", "dora"), ("User", "nobody"), ("Group", "x"))
            chosen = [self.pick(people) for _ in range(self.pick((0, 1, 1, 2)))]
            owners = [{"principal_type": kind, "principal_name": name} for kind, name in chosen]
        version = self.version("DescribeDelegationToken")
        self.play.ask(self.user(), "DescribeDelegationToken", version, {"owners": owners})

    def allow(self) -> None:
        """Let alice or bob make or see tokens of others, or forbid it."""
        kind, name, operations = USER, self.pick(("User:alice", "User:bob", "User:dora")), [13, 13, 14, 14, 2]
        if self.tokens and self.chance(0.4):
            hmac, _ = self.pick(self.tokens)
            kind, name, operations = TOKEN, hmac.replace("hmac", "token"), [8, 8, 2, 3]
        entry = {
            "resource_type": kind,
            "resource_name": name,
            "resource_pattern_type": 3,
            "principal": self.pick(("User:alice", "User:bob", "User:bob")),
            "host": "*",
            "operation": self.pick(operations),
            "permission_type": self.pick((3, 3, 3, 2)),
        }
        self.play.ask("a1", "CreateAcls", self.version("CreateAcls"), {"creations": [entry]}, settle=True)

    def disallow(self) -> None:
        """Take all entries about users away again."""
        body = {
            "resource_type_filter": USER,
            "resource_name_filter": None,
            "pattern_type_filter": 1,
            "principal_filter": None,
            "host_filter": None,
            "operation": 1,
            "permission_type": 1,
        }
        self.play.ask("a1", "DeleteAcls", self.version("DeleteAcls"), {"filters": [body]}, settle=True)


def _is_refused(answer: Json) -> bool:
    return bool(answer.get("error_code"))


def _are_in_place(answer: Json) -> bool:
    logs = [
        log
        for result in answer.get("results", ())
        for topic in result.get("topics", ())
        for log in topic.get("partitions", ())
    ]
    return len(logs) == PARTITIONS and not any("is_future_key" in log or "offset_lag" in log for log in logs)
