"""/v1/groups a page at a time, their partitions, and what stands between members and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.client import Client
from kafkastub.client.errors import BrokerError
from kafkastub.client.groups import commit, offsets
from kafkastub.findings import fetching
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.messages.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.control.conftest import Http, commit_for
from tests.stub.consumers import AT_ONCE, Player, rounds
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS, until

DAY_MS = 86_400_000


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    with KafkaStub(topics={"orders": 2}, config=AT_ONCE, control_port=0) as stub:
        stub.clock.freeze()
        yield stub


# -- the list ----------------------------------------------------------------------------------------------------


def committed(member: Player, offset: int) -> None:
    """The member commits partition 0 of orders."""
    partitions = [OffsetCommitRequestPartition(0, offset, -1, "")]
    topics = [OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    request = OffsetCommitRequest("g", member.epoch, member.member_id, None, -1, topics)
    member._client.ask_coordinator("g", request, version=9)


def fetched(stub: KafkaStub, partition: int, session_epoch: int = -1, isolation_level: int = 0) -> None:
    """The client of member one asks for a partition of orders."""
    with Client(stub.bootstrap_servers, client_id="client-one") as client:
        topics = [FetchTopic(topic="orders", partitions=[FetchPartition(partition=partition, fetch_offset=0)])]
        request = FetchRequest(topics=topics, session_epoch=session_epoch, isolation_level=isolation_level)
        client.ask(request, version=12)


def names(found: Any) -> list[str]:
    return [one["group"] for one in found["groups"]]


def test_a_page_of_those_that_fit(stub: KafkaStub, http: Http) -> None:
    for number in range(5):
        commit_for(stub, f"Group-{number}")
    commit_for(stub, "other")
    page = http.good("GET", "/v1/groups", search="group", offset=1, limit=2)
    assert (names(page), page["total"]) == (["Group-1", "Group-2"], 5)
    assert names(http.good("GET", "/v1/groups", group="other")) == ["other"]
    assert names(http.good("GET", "/v1/groups", group="nobody's")) == []
    assert http.good("GET", "/v1/groups", state="Stable") == {"groups": [], "total": 0}
    assert http.good("GET", "/v1/groups", type=["classic", "share"])["total"] == 6
    assert http.refusal("GET", "/v1/groups", offset=-1).startswith("offset=")
    commit_for(stub, "Before")
    assert names(http.good("GET", "/v1/groups", sort="name", limit=2)) == ["Before", "Group-0"]


def test_details_are_lag_and_the_next_expiry(stub: KafkaStub, http: Http) -> None:
    for _ in range(3):
        stub.produce("orders", value="x", partition=0)
    now = stub.clock.now_ms()
    commit_for(stub, "behind", 1)
    stub.clock.advance(hours=1)
    with Client(stub.bootstrap_servers) as client:
        commit(client, "behind", {("orders", 1): 0})
    (one,) = http.good("GET", "/v1/groups", details="true")["groups"]
    assert (one["lag"], one["next_expiry_ms"]) == (2, now + 7 * DAY_MS)
    (plain,) = http.good("GET", "/v1/groups")["groups"]
    assert "lag" not in plain


# -- partitions --------------------------------------------------------------------------------------------------


def test_partitions_with_an_offset_or_an_owner(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    one = player("one")
    rounds(one)
    committed(one, 5)
    page = http.good("GET", "/v1/groups/g/partitions")
    first, second = page["partitions"]
    assert page["total"] == 2
    assert (first["member_id"], first["client_id"], first["offset"], first["lag"]) == ("one", "client-one", 5, 0)
    assert (first["rule"], first["expires_at"], first["pending"]) == ("subscribed", None, False)
    assert (second["offset"], second["rule"], second["leader"], second["leader_running"]) == (None, None, 1, True)
    assert [each["partition"] for each in http.good("GET", "/v1/groups/g/partitions", offset=1)["partitions"]] == [1]
    assert http.good("GET", "/v1/groups/g/partitions", topic="other")["total"] == 0
    assert http.get("/v1/groups/none/partitions")[0] == 404


def test_pages_go_over_topics(stub: KafkaStub, http: Http) -> None:
    http.good("POST", "/v1/topics", {"name": "audit", "partitions": 3})
    with Client(stub.bootstrap_servers) as client:
        commit(client, "g", {("orders", 1): 1, ("audit", 2): 1, ("audit", 0): 1, ("orders", 0): 1})
    every = [("audit", 0), ("audit", 2), ("orders", 0), ("orders", 1)]
    for offset in range(6):
        for limit in range(1, 6):
            page = http.good("GET", "/v1/groups/g/partitions", offset=offset, limit=limit)
            assert page["total"] == 4
            assert [(one["topic"], one["partition"]) for one in page["partitions"]] == every[offset : offset + limit]
    page = http.good("GET", "/v1/groups/g/partitions", topic="orders", offset=1)
    assert ([one["partition"] for one in page["partitions"]], page["total"]) == ([1], 2)


def test_when_each_offset_expires(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "left/alone")
    (one,) = http.good("GET", "/v1/groups/left/alone/partitions")["partitions"]
    assert (one["rule"], one["expires_at_ms"]) == ("simple", stub.clock.now_ms() + 7 * DAY_MS)
    (listed,) = http.good("GET", "/v1/groups/left/alone")["offset_list"]
    assert (listed["expires_at"], listed["rule"], listed["why"]) == (one["expires_at"], one["rule"], one["why"])


# -- findings ----------------------------------------------------------------------------------------------------


def findings(http: Http, group: str = "g") -> list[tuple[str, str]]:
    found = http.good("GET", f"/v1/groups/{group}/findings")
    assert found["group"] == group
    return [(one["level"], one["sentence"]) for one in found["findings"]]


def test_without_members_nobody_asks(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "g", 0)
    ((level, sentence),) = findings(http)
    assert (level, "no members" in sentence) == ("stop", True)
    assert http.get("/v1/groups/none/findings")[0] == 404


def test_who_has_read_all_is_in_order(http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    assert findings(http) == [
        ("fine", "The group is Stable, with 1 member."),
        ("fine", "It has committed all that there is: nothing is left to read."),
    ]


def test_who_does_not_ask_is_named(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    stub.produce("orders", value="x", partition=0)
    level, sentence = findings(http)[0]
    assert level == "stop"
    assert sentence.startswith("client-one has not asked for orders-0 in the entries that the journal still has")


def test_faults_that_members_meet(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    stub.faults.add(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", name="theirs", topic="orders")
    stub.faults.add(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", name="another's", client_id="other-*")
    stub.faults.add(api="Fetch", delay_ms=5, name="short")
    stub.faults.add(api="Produce", drop="before", name="producers'")
    found = [sentence for level, sentence in findings(http) if level == "look"]
    assert found == ["Fault 'theirs' is about what its members ask; 0 requests met it so far."]
    stub.chaos.start(1)
    assert ("look", "Chaos is on, with seed 1.") in findings(http)


def test_a_revocation_that_others_wait_for(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    one, two = player("one"), player("two")
    rounds(one)
    http.good("POST", "/v1/groups/g/hold-revocation", {"member": "one"})
    two.beat()
    one.beat()
    found = "\n".join(sentence for _, sentence in findings(http))
    assert "The group is Reconciling" in found
    assert "Member client-one (one) is held" in found
    assert "has not revoked orders-1 yet" in found


def test_an_open_transaction_and_an_offset_that_is_not_in_the_log(stub: KafkaStub, http: Http) -> None:
    commit_for(stub, "g", 42)
    http.good("POST", "/v1/hanging-transactions", {"topic": "orders", "partition": 0})
    found = dict.fromkeys(sentence for _, sentence in findings(http))
    assert any("is not in the log" in sentence for sentence in found)
    assert any("cannot read past 0: a transaction is open" in sentence for sentence in found)


def test_a_partition_without_a_leader(http: Http, player: Callable[[str], Player], stub: KafkaStub) -> None:
    rounds(player("one"))
    http.good("POST", "/v1/nodes/1/stop")
    assert ("stop", "No node is running: nobody answers.") in findings(http)


def test_who_asks_and_what_comes_of_it(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    stub.produce("orders", value="x", partition=0)
    stub.produce("orders", value="x", partition=1)
    fetched(stub, 0)
    told = [sentence for _, sentence in findings(http)]
    never = "client-one has not asked for orders-1 in the entries that the journal still has"
    assert f"{never}: it has not begun, or paused." in told
    assert any(sentence.startswith("client-one asks for orders-0 right now") for sentence in told)
    stub.faults.add(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", times=1)
    fetched(stub, 0)
    assert ("stop", "client-one asks for orders-0 and is answered NOT_LEADER_OR_FOLLOWER.") in findings(http)


def test_within_a_fetch_session_only_changes_are_named(
    stub: KafkaStub, http: Http, player: Callable[[str], Player]
) -> None:
    rounds(player("one"))
    for partition in range(2):
        stub.produce("orders", value="x", partition=partition)
    with Client(stub.bootstrap_servers, client_id="client-one") as client:
        asked = [FetchPartition(partition=partition, fetch_offset=0) for partition in range(2)]
        session = client.ask(
            FetchRequest(topics=[FetchTopic(topic="orders", partitions=asked)], session_epoch=0), version=12
        )
        more = FetchRequest(session_id=session.session_id, session_epoch=1)
        client.ask(more, version=12)
        told = [sentence for _, sentence in findings(http)]
        assert any(sentence.startswith("client-one asks for orders-0, orders-1 right now") for sentence in told)
        more.session_epoch, more.forgotten_topics_data = 2, [ForgottenTopic(topic="orders", partitions=[1])]
        client.ask(more, version=12)
    told = [sentence for _, sentence in findings(http)]
    assert any(sentence.startswith("client-one asks for orders-0 right now") for sentence in told)
    assert any(sentence.startswith("client-one has not asked for orders-1 for 0 s") for sentence in told)


def test_who_has_not_asked_for_long(
    stub: KafkaStub, http: Http, player: Callable[[str], Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds(player("one"))
    stub.produce("orders", value="x", partition=0)
    fetched(stub, 0)
    ring = stub._running().observer.ring
    assert ring is not None
    _, asked = stub._call(lambda: ring.numbered()[-1])
    monkeypatch.setattr(fetching, "perf_counter_ns", lambda: asked.started + 60_000_000_000)
    ((_, sentence), *_) = findings(http)
    assert sentence == "client-one has not asked for orders-0 for 60 s: it has paused, or is busy with what it has."


def test_a_transaction_of_one_among_very_many_ids_is_told_by_its_name(stub: KafkaStub, http: Http) -> None:
    def register() -> None:
        coordinator = stub._running().state.transactions.coordinator
        for number in range(10_000):
            coordinator.init_producer_id(f"id-{number}", 60_000, None, coordinator.turn(0, 0))

    stub._call(register)
    producing(stub, "the last")
    commit_for(stub, "g")
    told = http.good("GET", "/v1/groups/g/findings")["findings"]
    assert [(one["name"], one["partition"]) for one in told if one["subject"] == "transaction"] == [("the last", 0)]


def test_who_is_held_or_at_an_open_transaction_does_not_get_what_is_there(
    stub: KafkaStub, http: Http, player: Callable[[str], Player]
) -> None:
    one = player("one")
    rounds(one)
    committed(one, 0)
    http.good("POST", "/v1/hanging-transactions", {"topic": "orders", "partition": 0})
    fetched(stub, 0)
    told = findings(http)
    assert any(level == "look" and "a transaction is open" in sentence for level, sentence in told)
    assert any("right now" in sentence for _, sentence in told)
    fetched(stub, 0, isolation_level=1)
    told = findings(http)
    assert told[0][0] == "stop"
    assert told[0][1].endswith("it hangs. client-one reads only those.")
    assert not any("right now" in sentence for _, sentence in told)
    stub.faults.add(api="Fetch", hold="before", name="kept")
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(fetched, stub, 0)
        until(lambda: http.good("GET", "/v1/holds")["requests"], "a request that is held")
        told = findings(http)
        stub.faults.clear()
        asked.result(SECONDS)
    assert told[0] == ("stop", "Fault 'kept' holds 1 request: Fetch of client-one.")
    assert not any("right now" in sentence for _, sentence in told)


def test_a_fault_on_the_way_to_records_comes_first(
    stub: KafkaStub, http: Http, player: Callable[[str], Player]
) -> None:
    rounds(player("one"))
    stub.produce("orders", value="x", partition=0)
    stub.faults.add(api="OffsetFetch", error="UNSTABLE_OFFSET_COMMIT", name="unstable")
    with Client(stub.bootstrap_servers, client_id="client-one") as client:
        for _ in range(2):
            with pytest.raises(BrokerError):
                offsets(client, "g")
    told = findings(http)
    assert told[0] == (
        "stop", "Fault 'unstable' answers OffsetFetch with UNSTABLE_OFFSET_COMMIT: 2 requests of this group met it.",
    )  # fmt: skip
    assert "has not asked for orders-0" in told[1][1]


def test_who_left_and_is_refused_is_named(stub: KafkaStub, http: Http) -> None:
    with Client(stub.bootstrap_servers, client_id="left") as client:
        commit(client, "g", {("orders", 0): 0})
        stub.faults.add(api="Metadata", error="TOPIC_AUTHORIZATION_FAILED", topic="orders")
        client.ask(MetadataRequest(topics=[MetadataRequestTopic(name="orders")]), version=9)
    first, second = http.good("GET", "/v1/groups/g/findings")["findings"][:2]
    assert (first["level"], first["subject"], first["name"]) == ("stop", "acl", "left")
    assert first["sentence"].startswith(
        "left, a client of this group, got TOPIC_AUTHORIZATION_FAILED in the answer to Metadata of orders "
    )
    assert "no members" in second["sentence"]


def test_a_partition_without_a_leader_names_the_node() -> None:
    with (
        KafkaStub(topics={"orders": 2}, nodes=2, config=AT_ONCE, control_port=0) as stub,
        Http(stub.control_url).client,
    ):
        http = Http(stub.control_url)
        player = Player(stub, "one")
        rounds(player)
        player.close()
        (node,) = {each.leader for each in stub._thread.running().state.cluster.topic("orders").partitions[:1]}  # type: ignore[union-attr]
        commit_for(stub, "g2", 0)
        http.good("POST", f"/v1/nodes/{node}/stop")
        found = http.good("GET", "/v1/groups/g2/findings")["findings"]
        assert [(one["subject"], one["name"]) for one in found if "has no leader" in one["sentence"]] == [
            ("node", str(node))
        ]


def test_details_have_the_worst_finding(stub: KafkaStub, http: Http, player: Callable[[str], Player]) -> None:
    rounds(player("one"))
    commit_for(stub, "empty")
    listed = {one["group"]: one["worst"] for one in http.good("GET", "/v1/groups", details="true")["groups"]}
    assert listed == {"g": "fine", "empty": None}
    stub.produce("orders", value="x", partition=0)
    listed = {one["group"]: one["worst"] for one in http.good("GET", "/v1/groups", details="true")["groups"]}
    assert listed == {"g": "stop", "empty": None}
