"""One history of a cluster, over raw frames and by real clients: everything that a snapshot of it is to have."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition

from kafkawire.messages.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kafkawire.messages.alter_client_quotas_response import AlterClientQuotasResponse
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_acls_response import CreateAclsResponse
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.offsets_topic import consumer_history, history, share_history, streams_history
from tests.offsets_topic.history import Player
from tests.persistence.speaker import Speaker
from tests.persistence.test_share_locks import REJECT, Worker
from tests.waiting import until

AUTHORIZER: Final[dict[str, object]] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
CONFIG: Final[dict[str, object]] = {
    **consumer_history.CONFIG,
    **share_history.CONFIG,
    **streams_history.CONFIG,
    "transaction.state.log.num.partitions": 3,
    "transaction.max.timeout.ms": 3_600_000,
    "log.retention.hours": 100,
    **AUTHORIZER,
    "auto.create.topics.enable": False,
}
TOPICS: Final = {"orders": 4, "audit": 1, "wide": 40, "other": 2, "many": 6, "customers": 3, "large": 20}
MORE: Final = {"paid": 2, "compacted": 1}
SHARING: Final = "sharing"
"""A share group whose members have said of records what became of them."""
_TOPIC, _BROKER, _GROUP = 2, 4, 32


class Played:
    """The history, with what is open at its end: members that are alive, and a transaction."""

    def __init__(self, servers: str) -> None:
        self.on = on = Player(servers)
        on.create(**TOPICS, **MORE)
        groups = {*consumer_history.GROUPS, "simple", "workers", "static", "sg", "offsets", "tasks", "standby", "live"}
        on.await_coordinator(*groups)
        history.simple_commits(on)
        history.live_group(on)
        history.static_group(on)
        live_classic(on)
        consumer_history.cooperative(on)
        consumer_history.expressions(on)
        consumer_history.ended(on)
        share_history.together(on)
        share_history.offsets(on)
        streams_history.seen(on, "orders", "customers")
        streams_history.tasks(on, [])
        streams_history.standby(on, [])
        configure(on)
        self.open = transactions(servers)
        shared(servers)

    def close(self) -> None:
        self.on.close()


def live_classic(on: Player) -> None:
    """A group with two members that are there at the end."""
    on.start_join("live", "one of live", "orders")
    first = on.joined("one of live")
    on.sync("live", "one of live", first, first)
    on.commit("live", {"orders": {0: 3, 3: 2}}, member=(first.member_id, first.generation_id))


def configure(on: Player) -> None:
    """Configurations of a topic, of all brokers and of a group; ACLs, prefixed ones too; quotas."""
    resources = [
        _altered(_TOPIC, "paid", {"retention.ms": "864000000", "max.message.bytes": "500000"}),
        _altered(_TOPIC, "compacted", {"cleanup.policy": "compact"}),
        _altered(_BROKER, "", {"log.cleaner.threads": "2"}),
        _altered(_GROUP, "cg", {"consumer.session.timeout.ms": "50000"}),
        _altered(_GROUP, SHARING, {"share.auto.offset.reset": "earliest"}),
    ]
    told = on.ask(IncrementalAlterConfigsRequest(resources), 1, IncrementalAlterConfigsResponse)
    assert [one.error_code for one in told.responses] == [0] * len(resources), told
    creations = [
        AclCreation(2, "orders", 3, "User:alice", "*", 3, 3),
        AclCreation(3, "work", 4, "User:bob", "10.0.0.1", 2, 2),
        AclCreation(4, "kafka-cluster", 3, "User:alice", "*", 12, 3),
    ]
    created = on.ask(CreateAclsRequest(creations), 3, CreateAclsResponse)
    assert [one.error_code for one in created.results] == [0] * len(creations), created
    entries = [
        EntryData([EntityData("user", "alice")], [OpData("producer_byte_rate", 1e6)]),
        EntryData([EntityData("client-id", None)], [OpData("request_percentage", 50.0)]),
    ]
    quotas = on.ask(AlterClientQuotasRequest(entries), 1, AlterClientQuotasResponse)
    assert [one.error_code for one in quotas.entries] == [0] * len(entries), quotas


def _altered(kind: int, name: str, texts: dict[str, str]) -> AlterConfigsResource:
    return AlterConfigsResource(kind, name, [AlterableConfig(key, 0, text) for key, text in texts.items()])


def transactions(servers: str) -> Any:
    """Records, committed and aborted transactions, and one that is open at the end, with offsets of a group."""
    plain = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for number in range(20):
        for topic in ("orders", "compacted"):
            plain.produce(topic, key=f"key {number % 7}", value=f"value {number}", headers={"who": b"somebody"})
    plain.flush()
    reader = Consumer({"bootstrap.servers": servers, "group.id": "piped"})
    piped = reader.consumer_group_metadata()
    reader.close()
    ends = _transactional(servers, "ends")
    for number in range(4):
        ends.begin_transaction()
        ends.produce("paid", value=f"paid {number}", partition=0)
        ends.flush()
        ends.send_offsets_to_transaction([TopicPartition("orders", 2, number)], piped)
        (ends.commit_transaction if number % 2 else ends.abort_transaction)()
    still_open = _transactional(servers, "open")
    still_open.begin_transaction()
    still_open.produce("paid", value="not yet", partition=0)
    still_open.produce("orders", value="not yet", partition=1)
    still_open.send_offsets_to_transaction([TopicPartition("orders", 3, 1)], piped)
    still_open.flush()
    plain.produce("paid", value="behind it", partition=0)
    plain.flush()
    return plain, still_open


def shared(servers: str) -> None:
    """A member takes records and acknowledges some in the middle."""
    with closing(Speaker(servers)) as on:
        worker = Worker("sharer", on, SHARING)
        worker.join()
        acquired = until(worker.fetch, "records")
        assert worker.acknowledge(acquired[1:3]) == 0
        assert worker.acknowledge(acquired[:1], REJECT) == 0


def left_to_share(servers: str, group: str) -> list[int]:
    """The offsets of `orders`-0 that a member gets who comes now."""
    with closing(Speaker(servers)) as on:
        worker = Worker("next sharer", on, group)
        worker.join()
        return until(worker.fetch, "records")


def _transactional(servers: str, transactional_id: str) -> Producer:
    producer = Producer(
        {"bootstrap.servers": servers, "transactional.id": transactional_id, "transaction.timeout.ms": 3_000_000}
    )
    producer.init_transactions(60)
    return producer
