"""A client with a client id of its own that speaks frames, and requests about quotas made easily."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from kafkawire import catalogue
from kafkawire.api import ApiKey
from kafkawire.codec import decode, encode
from kafkawire.header import is_flexible, response_header_size
from kafkawire.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafkawire.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from kafkawire.messages.describe_client_quotas_request import ComponentData, DescribeClientQuotasRequest
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kafkawire.records import NewRecord, build_batch
from kafkawire.schema import Message
from tests.rawclient import RawClient
from tests.waiting import until

PRODUCE_VERSION = 9
FETCH_VERSION = 12
TIMEOUT_SECONDS = 60
_STAMP = 1_700_000_000_000
Entity = Mapping[str, str | None]
"""Type -> name, None for the default."""


class Told(NamedTuple):
    """An answer: how long the client has to wait, and how long the answer took."""

    throttle_ms: int
    elapsed_ms: float
    answer: Any


class Client:
    """One connection."""

    def __init__(self, address: str, client_id: str | None = "admin") -> None:
        self._raw = RawClient(address, TIMEOUT_SECONDS)
        self.client_id = client_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def send(self, key: ApiKey, version: int, request: Message) -> int:
        """Bytes of the frame, without its size."""
        flexible = is_flexible(catalogue.request_class(key), version)
        body = encode(request, version)
        self._raw.send(key, version, body, flexible, self.client_id)
        return len(body) + 10 + len((self.client_id or "").encode()) + flexible

    def receive(self, key: ApiKey, version: int) -> Any:
        answer = self._raw.receive()
        if answer is None:
            raise ConnectionError("the broker has closed the connection")
        response = catalogue.response_class(key)
        return decode(response, version, answer[response_header_size(key, is_flexible(response, version)) :])

    def ask(self, key: ApiKey, version: int, request: Message) -> Told:
        began = time.monotonic()
        self.send(key, version, request)
        answer = self.receive(key, version)
        return Told(answer.throttle_time_ms, (time.monotonic() - began) * 1000, answer)

    def alter(self, *entries: tuple[Any, Any], validate_only: bool = False, version: int = 1) -> list[Any]:
        """Of each entity: code, text, its parts. An entry is parts and [(quota, value or None)]."""
        request = AlterClientQuotasRequest(
            [
                EntryData(
                    [EntityData(*part) for part in parts],
                    [OpData(name, 0.0 if value is None else value, value is None) for name, value in changes],
                )
                for parts, changes in entries
            ],
            validate_only,
        )
        answer = self.ask(ApiKey.ALTER_CLIENT_QUOTAS, version, request).answer
        return [
            [one.error_code, one.error_message, [[part.entity_type, part.entity_name] for part in one.entity]]
            for one in answer.entries
        ]

    def describe(self, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1) -> list[Any]:
        """Code, text and entries, sorted, as Kafka's are in the order of hash maps; None where there are none."""
        request = DescribeClientQuotasRequest([ComponentData(*one) for one in components], strict)
        answer = self.ask(ApiKey.DESCRIBE_CLIENT_QUOTAS, version, request).answer
        entries = None
        if answer.entries is not None:
            entries = sorted(
                (
                    [
                        [[part.entity_type, part.entity_name] for part in one.entity],
                        sorted([value.key, value.value] for value in one.values),
                    ]
                    for one in answer.entries
                ),
                key=repr,
            )
        return [answer.error_code, answer.error_message, entries]

    def set_quota(self, entity: Entity, **values: float | None) -> None:
        """Set or remove quotas, and wait until the broker says that it knows."""
        ((code, text, _),) = self.alter((list(entity.items()), list(values.items())))
        assert code == 0, text
        wanted = {name: value for name, value in values.items() if value is not None}
        gone = values.keys() - wanted.keys()
        components = [(kind, 1 if name is None else 0, name) for kind, name in entity.items()]

        def known() -> bool:
            entries = self.describe(*components, strict=True)[2]
            found = dict(entries[0][1]) if entries else {}
            return wanted.items() <= found.items() and not gone & found.keys()

        until(known, f"the quotas of {entity}")

    def create(self, *topics: tuple[str, int], version: int = 7, validate_only: bool = False) -> Told:
        asked = [CreatableTopic(name, partitions, 1) for name, partitions in topics]
        return self.ask(ApiKey.CREATE_TOPICS, version, CreateTopicsRequest(asked, 30000, validate_only))

    def create_and_wait(self, name: str) -> None:
        """A topic of one partition that has a leader."""
        self.create((name, 1))
        asked = MetadataRequest([MetadataRequestTopic(name=name)], False)
        until(lambda: not self.ask(ApiKey.METADATA, 9, asked).answer.topics[0].error_code, f"topic {name}")
        until(lambda: not self.fetch(name, 0).answer.responses[0].partitions[0].error_code, f"a leader of {name}")

    def produce(self, topic: str, size: int, acks: int = -1, version: int = PRODUCE_VERSION) -> Told:
        """One record of so many bytes."""
        request = produce_request(topic, size, acks)
        if acks == 0:
            self.send(ApiKey.PRODUCE, version, request)
            return Told(0, 0, None)
        told = self.ask(ApiKey.PRODUCE, version, request)
        assert told.answer.responses[0].partition_responses[0].error_code == 0
        return told

    def fetch(self, topic: str, most: int, session: tuple[int, int] = (0, -1), offset: int = 0, wait: int = 0) -> Told:
        return self.ask(ApiKey.FETCH, FETCH_VERSION, fetch_request(topic, most, session, offset, wait))


def produce_request(topic: str, size: int, acks: int = -1) -> ProduceRequest:
    batch = build_batch([NewRecord(None, b"x" * size, _STAMP)])
    partition = PartitionProduceData(index=0, records=batch)
    return ProduceRequest(
        acks=acks, timeout_ms=30000, topic_data=[TopicProduceData(name=topic, partition_data=[partition])]
    )


def fetch_request(
    topic: str, most: int, session: tuple[int, int] = (0, -1), offset: int = 0, wait: int = 0
) -> FetchRequest:
    """`session` is its id and epoch; one that is under way fetches what it fetched."""
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=most)
    return FetchRequest(
        max_wait_ms=wait,
        min_bytes=1,
        max_bytes=most,
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic=topic, partitions=[partition])] if session[1] < 1 else [],
    )


def records(told: Told) -> int:
    """Bytes of records that came."""
    return sum(len(one.records or b"") for topic in told.answer.responses for one in topic.partitions)


# --- the same questions for both brokers

KINDS = ("user", "client-id", "ip")
QUOTAS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)
_VALUES: tuple[float | None, ...] = (
    1e15, 2e15, 12345678901.0, 1e15 + 0.5, 0.5, 0.0, -1.0, 1e-7, 1e19, 9.3e18, float(2**63), 2147483647.0, 2147483648.0,
    float("inf"), None, None,
)  # fmt: skip
_NAMES = ("alice", "bob", "ü & x/y", "<default>", "")
_ADDRESSES = ("10.0.0.9", "10.1", "10.0.0.256", "::1", "0:0:0:0:0:0:0:1", "fe80::1", "localhost", "")


def questions() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """(method of `Client`, arguments, named arguments): made by hand, then at random, always the same."""
    yield "describe", (), {}
    yield "describe", (), {"strict": True}
    rate, other = ("producer_byte_rate", 1e15), ("consumer_byte_rate", 2e15)
    for changes in (
        [rate],
        [rate, rate],
        [rate, other],
        [("no_such", 1.0)],
        [("no_such", None)],
        [],
        [rate, ("x", 1.0)],
    ):
        yield "alter", (([("user", "alice")], changes),), {}
    for parts in ([], [("group", "g")], [("", "g")], [("user", "a"), ("user", "b")], [("user", None), ("ip", None)]):
        yield "alter", ((parts, [rate]),), {}
    yield "alter", (([("ip", "no.such.invalid")], [("connection_creation_rate", 1.0)]),), {}
    twice = [("user", "twice"), ("client-id", None)]
    yield "alter", ((twice, [rate]), (twice[::-1], [other]), (twice, [rate])), {}
    yield "alter", ((twice[::-1], [rate, rate]),), {}
    for strange in ([("group", "g"), ("", "g")], [("User", "u"), ("ip", "")], [("ip", ""), ("User", "u")]):
        yield "alter", ((strange, []),), {}
        yield "alter", (([*strange, ("user", "u")], []), ([("client-id", None), *strange], [rate, rate])), {}
        yield "alter", ((strange, [rate]), (strange[::-1], [rate])), {}
    yield "alter", (([("user", "trial")], [rate]), ([("user", "trial2")], [("x", 1.0)])), {"validate_only": True}
    yield "alter", (), {}
    for match in (
        ("user", 0, None),
        ("user", 1, "x"),
        ("user", 2, "x"),
        ("user", 3, None),
        ("", 2, None),
        ("x", 2, None),
    ):
        yield "describe", (match,), {}
    yield "describe", (("user", 2, None), ("user", 1, None)), {}
    yield "describe", (("x", 9, None), ("", 2, None)), {}
    yield "describe", (("ip", 2, None), ("client-id", 9, None)), {}
    chance = random.Random(546)
    for _ in range(120):
        yield "alter", tuple(_entry(chance) for _ in range(chance.choice((1, 1, 1, 2, 6)))), {
            "version": chance.randint(0, 1), "validate_only": chance.random() < 0.1
        }  # fmt: skip
        if chance.random() < 0.5:
            kinds = chance.sample(KINDS, chance.choice((0, 1, 1, 2, 3)))
            yield "describe", tuple(_component(chance, kind) for kind in kinds), {
                "version": chance.randint(0, 1), "strict": chance.random() < 0.5
            }  # fmt: skip
    yield "describe", (), {"version": 0}


def _entry(chance: random.Random) -> tuple[list[tuple[str, str | None]], list[tuple[str, float | None]]]:
    kinds = chance.choice(
        (("user",), ("client-id",), ("ip",), ("user", "client-id"), ("client-id", "user"), ("ip", "user"))
    )
    parts = [(kind, _name(chance, kind)) for kind in kinds]
    names = QUOTAS[4:] * 3 + QUOTAS[:1] if "ip" in kinds else QUOTAS[:4] * 3 + QUOTAS[4:]
    return parts, [(chance.choice(names), chance.choice(_VALUES)) for _ in range(chance.choice((1, 1, 2, 3)))]


def _name(chance: random.Random, kind: str) -> str | None:
    return None if chance.random() < 0.25 else chance.choice(_ADDRESSES if kind == "ip" else _NAMES)


def _component(chance: random.Random, kind: str) -> tuple[str, int, str | None]:
    match = chance.choice((0, 0, 0, 1, 2))
    return kind, match, (_name(chance, kind) or "alice") if match == 0 else None


def answers(address: str) -> list[Any]:
    """What a new broker says to all the questions. A description waits until it says what all before have come to."""
    found: list[Any] = []
    with Client(address) as client:
        for method, asked, named in questions():
            if method == "describe":
                settled(client)
            found.append(getattr(client, method)(*asked, **named))
    return found


def settled(client: Client) -> None:
    """Whatever was altered before is described: Kafka's broker learns of it a little after the answer."""
    stamp = 1e15 + random.SystemRandom().randrange(10**6)
    client.set_quota({"user": "settled"}, producer_byte_rate=stamp)
    client.set_quota({"user": "settled"}, producer_byte_rate=None)
