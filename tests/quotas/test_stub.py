"""What only the stub has, under quotas: a clock that tests move, nodes, faults, the journal, set_quota."""

from __future__ import annotations

import select
import time
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.metadata_request import MetadataRequest
from kafkawire.messages.produce_response import ProduceResponse
from tests.quotas.talking import PRODUCE_VERSION, Client, produce_request
from tests.security.talk import Talk
from tests.waiting import until

LONG_MS = 100_000


def silent(client: Client, seconds: float = 0.05) -> bool:
    """Whether nothing comes, for so long at least."""
    return not select.select([client._raw.socket], [], [], seconds)[0]


@pytest.fixture
def stub() -> Any:
    with KafkaStub(topics={"t": 1}) as one:
        yield one


def test_what_limits_nothing_is_refused(stub: KafkaStub):
    with pytest.raises(ValueError, match="producer_byte_rate=nan is refused"):
        stub.set_quota(client_id="loader", producer_byte_rate=float("nan"))
    with pytest.raises(ValueError, match="producer_byte_rate is refused: the number is too large"):
        stub.set_quota(client_id="loader", producer_byte_rate=10**400)
    with pytest.raises(ValueError, match="no quota is named"):
        stub.set_quota(client_id="loader")


def overdraw(stub: KafkaStub, client: Client, acks: int = -1) -> int:
    """How long the client has to wait: more than a minute."""
    stub.set_quota(client_id="loader", producer_byte_rate=100)
    wait = client.produce("t", 20_000, acks).throttle_ms
    assert wait > LONG_MS or acks == 0
    return wait


def test_advancing_the_timers_ends_the_wait(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader:
        wait = overdraw(stub, loader)
        loader.send(ApiKey.METADATA, 9, MetadataRequest([]))
        stub.clock.advance(days=8)  # broker time is no matter
        assert silent(loader)
        stub.clock.advance(seconds=wait / 1000 + 1, timers=True)
        loader.receive(ApiKey.METADATA, 9)
        assert loader.produce("t", 10).throttle_ms == 0


def test_a_frozen_clock_does_not_stop_the_windows(stub: KafkaStub):
    stub.clock.freeze()
    with Client(stub.bootstrap_servers, "loader") as loader:
        stub.set_quota(client_id="loader", producer_byte_rate=1000)
        assert 0 < loader.produce("t", 10_300).throttle_ms < 600
        loader.ask(ApiKey.METADATA, 9, MetadataRequest([]))


def test_requests_that_were_sent_meanwhile_are_answered_in_their_order(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader:
        stub.set_quota(client_id="loader", producer_byte_rate=100)
        loader.send(ApiKey.PRODUCE, PRODUCE_VERSION, produce_request("t", 20_000))
        for _ in range(5):
            loader.send(ApiKey.PRODUCE, PRODUCE_VERSION, produce_request("t", 10))
        first = loader.receive(ApiKey.PRODUCE, PRODUCE_VERSION)
        assert first.throttle_time_ms > LONG_MS
        offsets = [first.responses[0].partition_responses[0].base_offset]
        assert silent(loader)
        for _ in range(5):
            stub.clock.advance(seconds=20_000, timers=True)
            answer = loader.receive(ApiKey.PRODUCE, PRODUCE_VERSION)
            offsets.append(answer.responses[0].partition_responses[0].base_offset)
        assert offsets == [0, 1, 2, 3, 4, 5]


def test_acks_0_is_counted_and_the_connection_rests(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader:
        overdraw(stub, loader, acks=0)
        stub.journal.wait_for(api="Produce", timeout=60)  # nothing else tells when it was counted
        loader.send(ApiKey.METADATA, 9, MetadataRequest([]))
        assert silent(loader)
        stub.clock.advance(seconds=300, timers=True)
        loader.receive(ApiKey.METADATA, 9)


def test_who_leaves_while_he_waits_leaves_nothing_behind(stub: KafkaStub):
    for _ in range(200):
        with Client(stub.bootstrap_servers, "loader") as loader:
            overdraw(stub, loader)
    with Client(stub.bootstrap_servers, "loader") as loader:
        overdraw(stub, loader)
        muted = stub._running().state.muted
        assert muted is not None
        until(lambda: len(muted._ends) < 100, "most of the ends are forgotten")


def test_the_last_quota_gone_nothing_is_measured_any_more(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader, Client(stub.bootstrap_servers, "loader") as waiting:
        state, dispatcher = stub._running().state, stub._running()._server.dispatcher
        loader.produce("t", 10)
        (route,) = [one for one in dispatcher.routes() if one.key == ApiKey.PRODUCE]
        assert route.handler is route.bypassed
        overdraw(stub, waiting)
        assert state.throttle is not None
        (route,) = [one for one in dispatcher.routes() if one.key == ApiKey.PRODUCE]
        assert route.handler is not route.bypassed
        stub.set_quota(client_id="loader", producer_byte_rate=None)
        assert state.throttle is None
        assert "serve" not in vars(dispatcher)
        assert loader.produce("t", 100_000).throttle_ms == 0
        (route,) = [one for one in dispatcher.routes() if one.key == ApiKey.PRODUCE]
        assert route.handler is route.bypassed
        waiting.send(ApiKey.METADATA, 9, MetadataRequest([]))  # who has to wait waits to the end
        assert silent(waiting)
        stub.clock.advance(seconds=1000, timers=True)
        waiting.receive(ApiKey.METADATA, 9)


def test_a_quota_of_addresses_alone_measures_no_requests(stub: KafkaStub):
    stub.set_quota(ip="", connection_creation_rate=1000)
    assert stub._running().state.throttle is None


def test_the_journal_has_the_answer_with_its_throttle_time(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader:
        wait = overdraw(stub, loader)
        entry = stub.journal.wait_for(api="Produce")
        assert entry.response is not None
        assert entry.response.throttle_time_ms == wait


def test_a_fault_and_a_quota_meet(stub: KafkaStub):
    """A request that a fault holds up is counted with its own size, and waits behind its late answer."""
    with stub.faults.add(api="Produce", delay_ms=50), Client(stub.bootstrap_servers, "loader") as loader:
        stub.set_quota(client_id="loader", producer_byte_rate=100)
        loader.send(ApiKey.PRODUCE, PRODUCE_VERSION, produce_request("t", 20_000))
        with Client(stub.bootstrap_servers, "loader") as other:
            other.ask(ApiKey.METADATA, 9, MetadataRequest([]))
        assert loader.receive(ApiKey.PRODUCE, PRODUCE_VERSION).throttle_time_ms > LONG_MS
        loader.send(ApiKey.METADATA, 9, MetadataRequest([]))
        assert silent(loader)


def test_an_answer_that_is_given_again_and_again_keeps_its_throttle_time_to_itself(stub: KafkaStub):
    from kafkawire.messages.heartbeat_request import HeartbeatRequest

    stub.set_quota(client_id="asker", request_percentage=1e-6)
    beat = HeartbeatRequest("group", 1, "nobody")
    with Client(stub.bootstrap_servers, "asker") as asker, Client(stub.bootstrap_servers, "other") as other:
        for _ in range(3):
            assert other.ask(ApiKey.HEARTBEAT, 4, beat).throttle_ms == 0
            stub.clock.advance(seconds=2, timers=True)
            assert asker.ask(ApiKey.HEARTBEAT, 4, beat).throttle_ms == 1000


@pytest.mark.parametrize("version", [0, 1])
def test_members_of_the_consumer_protocol_are_told_to_wait(stub: KafkaStub, version: int):
    from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest

    stub.set_quota(client_id="asker", request_percentage=1e-6)
    beat = ConsumerGroupHeartbeatRequest("group", "nobody", 1)
    with Client(stub.bootstrap_servers, "asker") as asker, Client(stub.bootstrap_servers, "other") as other:
        key = ApiKey.CONSUMER_GROUP_HEARTBEAT
        assert asker.ask(key, version, beat).throttle_ms == 1000
        assert other.ask(key, version, beat).throttle_ms == 0


def test_each_node_counts_for_itself():
    with KafkaStub(nodes=2, topics={"one": 1, "two": 1}) as stub:
        first, second = stub.nodes.values()
        stub.move_leader("one", 0, first.id)
        stub.move_leader("two", 0, second.id)
        stub.set_quota(client_id="loader", producer_byte_rate=100)
        with Client(first.bootstrap_servers, "loader") as loader:
            assert loader.produce("one", 20_000).throttle_ms > LONG_MS
        with Client(second.bootstrap_servers, "loader") as loader:
            assert loader.produce("two", 500).throttle_ms == 0


def test_a_user_has_a_quota_from_the_sign_in_on():
    with KafkaStub(users={"alice": "secret", "bob": "secret"}, topics={"t": 1}) as stub:
        stub.set_quota(user="alice", producer_byte_rate=100)
        stub.set_quota(user="", request_percentage=1e9)  # bob's and everybody's, and no matter
        waits = {}
        for user in ("alice", "bob"):
            with Talk(stub.bootstrap_servers) as talk:
                assert talk.plain(user, "secret").error_code == 0
                answer: ProduceResponse = talk.ask(ApiKey.PRODUCE, 9, produce_request("t", 20_000))
                waits[user] = answer.throttle_time_ms
        assert waits["alice"] > LONG_MS
        assert waits["bob"] == 0


def test_durable_answers_are_throttled_too(tmp_path: Path):
    config = {"kafkastub.flush": "message"}
    with (
        KafkaStub(data_dir=tmp_path, topics={"t": 1}, config=config) as stub,
        Client(stub.bootstrap_servers, "loader") as loader,
    ):
        overdraw(stub, loader)
        loader.send(ApiKey.METADATA, 9, MetadataRequest([]))
        assert silent(loader)
        stub.clock.advance(seconds=1000, timers=True)
        loader.receive(ApiKey.METADATA, 9)


def test_more_than_can_be_kept_is_not_read_while_the_connection_rests(stub: KafkaStub):
    with Client(stub.bootstrap_servers, "loader") as loader:
        overdraw(stub, loader)
        socket, sent = loader._raw.socket, 0
        socket.setblocking(False)
        data = bytes(1 << 16)
        while select.select([], [socket], [], 0.5)[1]:
            sent += socket.send((len(data) - 4).to_bytes(4, "big") + data[4:])
            assert sent < 64 << 20, "everything is read"  # the kernel's buffers take some 6 MB
        assert sent > 1 << 16


def test_windows_are_as_configured():
    config = {"quota.window.num": 2, "quota.window.size.seconds": 5, "controller.quota.window.num": 1}
    with KafkaStub(topics={"t": 1}, config=config) as stub:
        stub.set_quota(client_id="loader", producer_byte_rate=1000, controller_mutation_rate=1)
        with Client(stub.bootstrap_servers, "loader") as loader:
            assert 4900 < loader.produce("t", 10_000).throttle_ms < 5300
        began = time.monotonic()
        with Client(stub.bootstrap_servers, "loader") as loader:
            assert loader.create(("made", 4)).throttle_ms == 0
        with Client(stub.bootstrap_servers, "loader") as loader:
            throttle_ms = loader.create(("more", 1)).throttle_ms
            assert 3000 - (time.monotonic() - began) * 1000 - 2 <= throttle_ms <= 3000


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"user": "alice", "producer_byte_rate": 0}, "Quota producer_byte_rate must be greater than 0"),
        ({"user": "alice", "byte_rate": 1}, "byte_rate is refused: a user or client id has producer_byte_rate"),
        ({"producer_byte_rate": 1}, "Invalid empty client quota entity"),
        ({"ip": "nowhere", "connection_creation_rate": 1}, "nowhere is not a valid IP or resolvable host."),
        (
            {"ip": "10.0.0.1", "producer_byte_rate": 1},
            "producer_byte_rate is refused: an address has connection_creation_rate",
        ),
    ],
)
def test_what_kafka_refuses_is_refused(stub: KafkaStub, given: dict[str, Any], why: str):
    with pytest.raises(ValueError, match=why):
        stub.set_quota(**given)


def test_other_kinds_of_things_are_refused(stub: KafkaStub):
    with pytest.raises(TypeError, match="user=3 is refused"):
        stub.set_quota(user=3, producer_byte_rate=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="producer_byte_rate='1' is refused"):
        stub.set_quota(user="alice", producer_byte_rate="1")  # type: ignore[arg-type]


def test_the_number_of_entities_is_bounded(stub: KafkaStub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub.security.quotas._MOST_ENTITIES", 2)
    for user in ("alice", "bob"):
        stub.set_quota(user=user, producer_byte_rate=1)
    with pytest.raises(ValueError, match="at most 2 entities may have quotas"):
        stub.set_quota(user="carol", producer_byte_rate=1)
    with Client(stub.bootstrap_servers) as client:
        refused = client.alter(([("user", "carol")], [("producer_byte_rate", 1.0)]))
        assert [code for code, _, _ in refused] == [ErrorCode.UNKNOWN_SERVER_ERROR]
    stub.set_quota(user="bob", producer_byte_rate=2)
    stub.set_quota(user="bob", producer_byte_rate=None)
    stub.set_quota(user="carol", producer_byte_rate=1)


def test_clients_see_what_the_test_has_set(stub: KafkaStub):
    stub.set_quota(user="", client_id="app", producer_byte_rate=5, consumer_byte_rate=6)
    stub.set_quota(user="", client_id="app", producer_byte_rate=None)
    with Client(stub.bootstrap_servers) as client:
        entity = [["client-id", "app"], ["user", None]]
        assert client.describe() == [0, "", [[entity, [["consumer_byte_rate", 6.0]]]]]
