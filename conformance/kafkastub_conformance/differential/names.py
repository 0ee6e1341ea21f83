"""What differs from run to run, and the stable name that stands for it in a scenario and its transcript.

The same table is in docs/differential.md.

| what                                       | stands as                     | how it is recognised                    |
|--------------------------------------------|-------------------------------|-----------------------------------------|
| member id (client or instance id, uuid)    | `<c1#1>`, `<c1#2>`: in order  | text that ends in `-` and a uuid        |
| member id that is a uuid alone (KIP-848)   | `<member 1>`: in order        | answer to a join with an empty id       |
| prefix of this play's groups and topics    | `<p>`                         | the prefix, which nothing else has      |
|                                            | `…<p, 5 characters>`          | end of a text that was cut off          |
| topics that the scenarios of a run share   | `t1`, `t2`, `t3`              | the whole name; in bytes (subscriptions)|
|                                            |                               | with its length before it               |
| node id of the broker that is asked        | `1`, and 1 as that id         | `NODES`: fields that hold a node id     |
| topic id                                   | `<topic t1>`                  | learned from Metadata before the play   |
| the broker's address                       | `<host>`, `<port>`            | fields `host` and `port` of one struct  |
| the client's address, as a broker sees it  | `/<client>`                   | field `client_host` that begins with    |
|                                            |                               | `/`, if others use the broker, too      |
| cluster id                                 | `<cluster>`                   | field `cluster_id` of an answer         |
| producer id that the broker gave out       | `<producer 1>`: in order;     | answers to InitProducerId and EndTxn;   |
|                                            | `<producer>`: of others       | below a million: scenarios make up      |
|                                            |                               | larger ones                             |
| time that the broker stamped               | `<time>`                      | fields ending in `timestamp`, `time_ms`,|
|                                            |                               | and 13 digits in a text, within 30 days |
|                                            |                               | of now                                  |
| time that a quota makes a client wait      | left out                      | field `throttle_time_ms` of an answer,  |
|                                            |                               | if others use the broker, too           |
| order of what Kafka keeps in a hash map    | sorted                        | `UNORDERED`, `UNORDERED_DATA`, and fetch|
|                                            |                               | of *all* offsets; `BY_PARTITION` if     |
|                                            |                               | others use the broker, too              |
| names that Kafka keeps in a hash map       | in order; `<3 of them>`, `…`  | StreamsGroupHeartbeat: topics that are  |
|                                            | where only some are named     | missing, wrong, or of an endpoint       |
| groups and transactional ids of others     | left out                      | ListGroups, ListTransactions: no prefix |
| topics of others                           | left out                      | Metadata of everything,                 |
|                                            |                               | ListConfigResources, DescribeLogDirs    |
| fetch session id                           | `<session 1>`: in order       | Fetch answers                           |
| telemetry instance id, subscription id     | `<instance 1>`, `<subscri…>`  | given to the play; learned from answers |
| a batch with LogAppendTime: its CRC        | `right` or `wrong`            | Fetch answers, batch by batch           |
| a compressed payload (another zlib's gzip) | unpacked, without its length  | Fetch answers, `<p>recompressed` topics |
|                                            |                               | in DescribeLogDirs                      |
| bytes after an answer's message            | compared as `trailing bytes`  | fields that its version does not have   |
| documentation of a configuration           | `<text>`                      | DescribeConfigs: the stub has its own   |
| path and size of the disk                  | `<dir>`, `<bytes>`            | DescribeLogDirs                         |
| several log directories                    | `<dir 1>`: by path            | learned from DescribeLogDirs            |
| delegation token: its id, its hmac         | `<token 1>`, `<hmac 1>`       | learned from CreateDelegationToken      |
| times of a delegation token                | `<time>`, `<time+60 min>`     | counted from its issue, or from now     |
| tokens of other scenarios                  | left out                      | DescribeDelegationToken                 |
| epoch and offsets of the metadata log      | `<epoch>`, `<offset>`         | DescribeQuorum, ApiVersions             |
| a voter's directory                        | `<directory>`                 | DescribeQuorum                          |
| which versions of which APIs there are     | left out                      | ApiVersions                             |
| text of CLUSTER_AUTHORIZATION_FAILED       | `<text>`                      | it contains a printed Java object       |

Names are translated in both directions: `<c1#1>` in a request is sent as the member id that it stands for in this play.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from kafkastub_conformance.differential.bodies import Json, Translation

UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
WHOLE_MEMBER = re.compile(rf"(.*)-({UUID})", re.DOTALL)
MEMBER_IN_TEXT = re.compile(rf"([\w.]*)-({UUID})")
NAME = re.compile(r"<[^<>]*>")

NEAR_MS = 30 * 86_400_000
"""A time so near is the broker's or relative to it; scenarios use other times where the very value matters."""

OWN_PRODUCERS = 1_000_000
"""Producer ids from here on are made up by scenarios; brokers give out smaller ones."""

TOPICS = {"t1": 3, "t2": 1, "t3": 2}
"""The topics that all scenarios of a run share: {name: partitions}. One of a scenario's own is named `<p>…`."""

UNORDERED = {
    ("JoinGroup", "members"): "member_id",
    ("DescribeGroups", "groups", "members"): "member_id",
    ("ListGroups", "groups"): "group_id",
    ("DeleteGroups", "results"): "group_id",
}
"""Arrays that Kafka fills from a hash map, and what we sort them by."""

BY_PARTITION = {
    ("DescribeGroups", "groups"): "group_id",
    ("ConsumerGroupDescribe", "groups"): "group_id",
    ("ShareGroupDescribe", "groups"): "group_id",
    ("StreamsGroupDescribe", "groups"): "group_id",
}
"""Arrays in the order of the partitions of __consumer_offsets: in the request's where there is only one."""


TIMED = ("DescribeDelegationToken",)
"""APIs whose times are told from another one on; the module `names_admin` does it."""

NODES = {
    "node_id", "broker_id", "broker_ids", "controller_id", "leader_id", "replica_id", "replica_nodes", "isr_nodes",
    "offline_replicas", "eligible_leader_replicas", "last_known_elr",
}  # fmt: skip
"""Fields that hold node ids."""

PRODUCERS = {"producer_id", "ongoing_txn_producer_id"}
"""Fields that hold producer ids."""

PLAIN_NODE = 1
"""What stands for the node that is asked."""


SHORTEST_CUT = 3
"""Fewer characters of a prefix tell nothing of the play's number, and may be anything."""


class Names:
    """The names of one play. `prefix` starts every group and topic name that a scenario writes with `<p>`.

    Args:
        topics: names on this broker by their names in the scenario: the shared topics, and groups with names of
            their own.
        node: the broker's node id.
    """

    def __init__(self, prefix: str, topics: Mapping[str, str] | None = None, node: int = PLAIN_NODE) -> None:
        self.prefix = prefix
        self.node = node
        self.used: set[str] = set()
        """Groups and topics under the prefix that were sent, whether they came to be or not."""
        self.topics = {name: real for name, real in (topics or {}).items() if name != real}
        self.sending: Translation = _Sending(self)
        self.showing: Translation = _Showing(self)
        self._real = {"<p>": prefix, "<node>": str(node), "<stranger>": str(node + 1)}
        self._name: dict[str, str] = {real: name for name, real in self.topics.items()}
        self._count: dict[str, int] = {}
        self._producers: dict[int, str] = {}
        self._uuids: list[str] = []

    def add(self, name: str, real: str) -> None:
        """Let `<name>` stand for `real`."""
        self._real[f"<{name}>"] = real
        self._name[real] = f"<{name}>"

    def knows(self, name: str) -> bool:
        """Whether `<name>` stands for something."""
        return name in self._real

    def real(self, text: str) -> str:
        """The text to send: names replaced by what they stand for; unknown ones stay as they are."""
        if text in self.topics:
            return self._noted(self.topics[text])
        real = NAME.sub(lambda found: self._real.get(found[0], found[0]), text)
        return self._noted(real)

    def _noted(self, real: str) -> str:
        if real.startswith(self.prefix):
            self.used.add(real)
        return real

    def members(self) -> list[str]:
        """All member ids that the broker gave out."""
        return [real for name, real in self._real.items() if "#" in name]

    def stable(self, text: str) -> str:
        """The text to show: what differs from run to run replaced by its name."""
        if text in self._name:
            return self._name[text]
        whole = WHOLE_MEMBER.fullmatch(text)
        if whole:
            return self._member(whole[1], text)
        for uuid in self._uuids:
            text = text.replace(uuid, self._name[uuid])
        text = MEMBER_IN_TEXT.sub(lambda found: self._member(found[1], found[0]), text)
        for name, real in self.topics.items():
            text = text.replace(real, name)
        return self._without_cut(text.replace(self.prefix, "<p>"))

    def _without_cut(self, text: str) -> str:
        """Where broken bytes end a name within the prefix: how much of it there is."""
        for length in range(len(self.prefix) - 1, SHORTEST_CUT - 1, -1):
            if text.endswith(self.prefix[:length]):
                return f"{text[:-length]}<p, {length} characters>"
        return text

    def plain_node(self, node: int) -> int:
        """A node id as it is shown."""
        return {self.node: PLAIN_NODE, PLAIN_NODE: self.node}.get(node, node)

    def number(self, base: str, real: int | str) -> None:
        """Let `<base 1>`, `<base 2>` and so on stand for these, in the order in which they are first seen."""
        if str(real) not in self._name:
            self._count[base] = self._count.get(base, 0) + 1
            self.add(f"{base} {self._count[base]}", str(real))

    def learn_uuid(self, real: str) -> None:
        """Let `<member 1>` and so on stand for member ids that are a uuid alone, within texts, too."""
        self.number("member", real)
        self._uuids.append(real)

    def stable_number(self, real: int) -> str:
        """The name of a number, or its digits."""
        return self._name.get(str(real), str(real))

    def learn_producer(self, real: int) -> None:
        """Let `<producer 1>` and so on stand for producer ids.

        Those of brokers are small: the digits of one may be a text that means something else, so they are kept apart.
        """
        if 0 <= real < OWN_PRODUCERS and real not in self._producers:
            name = f"<producer {len(self._producers) + 1}>"
            self._producers[real] = name
            self._real[name] = str(real)

    def producer(self, real: int) -> Json:
        """A producer id as it is shown: scenarios' own as they are, and -1."""
        if real < 0 or real >= OWN_PRODUCERS:
            return real
        return self._producers.get(real, "<producer>")

    def _member(self, base: str, real: str) -> str:
        if real not in self._name:
            self._count[base] = self._count.get(base, 0) + 1
            self.add(f"{base}#{self._count[base]}", real)
        return self._name[real]


class _Sending(Translation):
    """From the scenario to the broker."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def text(self, text: str) -> str:
        return self.names.real(text)

    def data(self, data: bytes) -> bytes:
        for name, real in self.names.topics.items():
            data = data.replace(_with_length(name), _with_length(real))
        return data


class _Showing(Translation):
    """From the broker to the scenario."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def text(self, text: str) -> str:
        return self.names.stable(text)

    def data(self, data: bytes) -> bytes:
        for name, real in self.names.topics.items():
            data = data.replace(_with_length(real), _with_length(name))
        return data


def _with_length(text: str) -> bytes:
    return len(text).to_bytes(2, "big") + text.encode()


def topic_name(topic: str) -> str:
    """The name of a topic's id without its brackets: "topic t1" for t1, "topic p.x" for <p>x."""
    return "topic " + topic.replace("<p>", "p.")


def normalise(names: Names, api: str, request: Mapping[str, Json], answer: dict[str, Json]) -> dict[str, Json]:
    """The answer with the rows of the table applied that need more than a text: fields, order, foreign groups."""
    if api == "ListGroups" and "groups" in answer:
        answer["groups"] = [group for group in answer["groups"] if group.get("group_id", "").startswith("<p>")]
        if not answer["groups"]:
            del answer["groups"]
    if api not in TIMED:
        answer = _stamped(names, answer)
    unordered = UNORDERED | BY_PARTITION if names.topics else UNORDERED
    for (of_api, *path), key in unordered.items():
        if of_api == api:
            _sort(answer, path, key)
    if api == "OffsetFetch":
        _sort_fetch_of_all(request, answer)
    return answer


def _stamped(names: Names, value: Json, field: str = "") -> Any:
    if isinstance(value, dict):
        # The host of an ACL has no port, and is not the broker's; nor is a member's own endpoint.
        kept = {"user_endpoint"} if "port" in value else {"user_endpoint", "host"}
        return {key: item if key in kept else _stamped(names, item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_stamped(names, item, field) for item in value]
    if field == "client_host" and names.topics and str(value).startswith("/"):
        return "/<client>"
    if field in NODES and isinstance(value, int):
        return names.plain_node(value)
    if field in PRODUCERS and isinstance(value, int):
        return names.producer(value)
    if field in ("host", "port", "cluster_id") and value not in (None, "", -1):
        return {"cluster_id": "<cluster>"}.get(field, f"<{field}>")
    timed = field.endswith("timestamp") or (field.endswith("time_ms") and not field.startswith("throttle"))
    return "<time>" if timed and isinstance(value, int) and is_near(value) else value


def is_near(value: int) -> bool:
    """Whether this is a time of these days, in unix milliseconds."""
    return abs(value - time.time() * 1000) < NEAR_MS


def _sort(answer: Json, path: list[str], key: str) -> None:
    """Sort the arrays at `path` by their elements' field `key`."""
    if isinstance(answer, list):
        for item in answer:
            _sort(item, path, key)
    elif isinstance(answer, dict) and path and path[0] in answer:
        if len(path) == 1:
            answer[path[0]].sort(key=lambda item: item.get(key, ""))
        else:
            _sort(answer[path[0]], path[1:], key)


def _sort_fetch_of_all(request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    """Offsets of all topics come from a hash map; of named topics in the order of the request."""
    everything = [group.get("topics", ()) is None for group in request.get("groups", ())]
    for asked_all, group in zip(everything, answer.get("groups", ()), strict=False):
        if asked_all:
            _sort_topics(group)
    if request.get("topics", ()) is None:
        _sort_topics(answer)


def _sort_topics(holder: dict[str, Json]) -> None:
    for topic in holder.get("topics", ()):
        topic.get("partitions", []).sort(key=lambda partition: partition.get("partition_index", 0))
    holder.get("topics", []).sort(key=lambda topic: (topic.get("name", ""), topic.get("topic_id", "")))
