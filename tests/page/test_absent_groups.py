"""A group that never came to be is no dead end, and what Overview names is not all there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka import Consumer
from playwright.sync_api import Browser, expect

from kafkastub.client import Client
from kafkastub.client.groups import commit, offsets
from kafkawire.codec import encode
from kafkawire.messages.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from tests.page.scenes import QUIETLY, Asking, Reader
from tests.page.screen import PHONE, Screen
from tests.page.test_looks import faults
from tests.process.serving import Controlled
from tests.rawclient import RawClient
from tests.waiting import SECONDS, until

MS = SECONDS * 1000
CONFIG = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:nobody",
    "allow.everyone.if.no.acl.found=true",
    "auto.create.topics.enable=false",
    "group.initial.rebalance.delay.ms=0",
)
DENIED = {"resource_type": "GROUP", "resource_name": "denied", "principal": "User:*"}


@pytest.fixture(scope="module")
def process() -> Iterator[Controlled]:
    with Controlled("--topic", "orders:1", "--config", *CONFIG) as process:
        yield process


def re_named(*parts: str) -> re.Pattern[str]:
    """These texts one after the other, whatever is between them."""
    return re.compile(".*".join(map(re.escape, parts)))


def beat(client: RawClient, group: str, epoch: int = 0) -> None:
    """A heartbeat of a group's only member, the one with which it joins first."""
    asked = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id=f"member-of-{group}", member_epoch=epoch, rebalance_timeout_ms=60_000,
        subscribed_topic_names=["orders"], topic_partitions=[],
    )  # fmt: skip
    client.exchange(asked.API_KEY, 1, encode(asked, 1))


@contextmanager
def consuming(process: Controlled, group: str, topic: str = "orders") -> Iterator[Reader]:
    reader = Reader(process.servers, group, [topic], f"{group}-1")
    try:
        yield reader
    finally:
        reader.close()


def without_404(screen: Screen) -> None:
    """The console tells of the group that is asked for and not there."""
    screen.complaints = [each for each in screen.complaints if "404" not in each]


def test_a_group_that_may_not_be_joined_says_who_was_refused(process: Controlled, ask: Asking, screen: Screen) -> None:
    ask("POST", "/v1/acls", {**DENIED, "operation": "DESCRIBE"})
    ask("POST", "/v1/acls", {**DENIED, "operation": "READ", "permission": "DENY"})
    with consuming(process, "denied"):
        screen.open(process.url)
        named = screen.link(re_named("denied", "is not there: JoinGroup of denied-1 was refused"))
        expect(named).to_contain_text("GROUP_AUTHORIZATION_FAILED", timeout=MS)
        named.click()
        screen.sees("There is no group of this name")
        screen.sees("JoinGroup of denied-1 was refused: GROUP_AUTHORIZATION_FAILED")
        screen.link("All of these in the journal").click()
        expect(screen.row("JoinGroup", "GROUP_AUTHORIZATION_FAILED")).to_be_visible(timeout=MS)
        assert "group=denied" in screen.page.url
    without_404(screen)


def test_a_join_that_is_held_is_named_and_the_group_shown_once_it_is_there(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    ask("POST", "/v1/faults", {"name": "gate", "api": "JoinGroup", "group": "held", "hold": "before"})
    with consuming(process, "held"):
        screen.open(process.url)
        named = screen.link(re_named("held", "is not there: JoinGroup of held-1 is held by fault gate"))
        expect(named).to_be_visible(timeout=MS)
        named.click()
        screen.sees("JoinGroup of held-1 is held by fault gate")
        ask("DELETE", "/v1/faults/gate")
        screen.sees("Do its members get records?")
        screen.open(process.url)
        expect(screen.page.get_by_text("is not there")).to_have_count(0, timeout=MS)
    without_404(screen)


def test_a_topic_that_is_not_there_is_named_with_the_group_that_waits_for_it(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    with consuming(process, "early", "later"):
        until(
            lambda: ask("GET", "/v1/journal", client_id="early-1", error="UNKNOWN_TOPIC_OR_PARTITION")["entries"], "it"
        )
        screen.open(process.url, "groups/early")
        expect(screen.row("FindCoordinator", "early-1")).to_contain_text("ok", timeout=MS)
        screen.sees("Metadata of early-1 was refused: UNKNOWN_TOPIC_OR_PARTITION (later)")
    without_404(screen)


def test_a_group_that_nobody_has_asked_for_says_so(process: Controlled, ask: Asking, screen: Screen) -> None:
    screen.open(process.url, "groups/biling")
    screen.sees("Nobody has asked")
    expect(screen.page.get_by_text("Ask again")).to_have_count(0)
    without_404(screen)


def test_it_fits_a_phone_and_axe_finds_nothing(process: Controlled, ask: Asking, browser: Browser) -> None:
    with consuming(process, "early", "later"), Screen(browser, PHONE) as screen:
        until(lambda: ask("GET", "/v1/journal", error="UNKNOWN_TOPIC_OR_PARTITION")["entries"], "a refusal")
        screen.open(process.url, "groups/early")
        screen.sees("What else early-1 was refused")
        assert screen.page.evaluate("document.scrollingElement.scrollWidth") <= PHONE[0]
        assert not faults(screen)


def test_a_group_that_is_there_is_not_named_for_what_was_refused(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    ask("POST", "/v1/faults", {"api": "FindCoordinator", "error": "COORDINATOR_NOT_AVAILABLE", "times": 1})
    consumer = Consumer({**QUIETLY, "bootstrap.servers": process.servers, "group.id": "there", "client.id": "there-1"})
    consumer.subscribe(["orders"])
    consumer.poll(0)
    ask("GET", "/v1/groups/there/wait", members=1, timeout=SECONDS)
    assert ask("GET", "/v1/journal", group="there", error="COORDINATOR_NOT_AVAILABLE")["entries"]
    with consuming(process, "early", "later"), Client(process.servers) as client:
        ask("POST", "/v1/faults", {"api": "OffsetFetch", "group": "gone", "error": "UNSTABLE_OFFSET_COMMIT"})
        screen.open(process.url)
        with pytest.raises(Exception, match="UNSTABLE_OFFSET_COMMIT"):
            offsets(client, "gone")
        expect(screen.link(re_named("gone", "is not there: OffsetFetch"))).to_be_visible(timeout=MS)
        expect(screen.page.locator("main .list-item", has_text="there is not there")).to_have_count(0)
    consumer.close()


def test_groups_that_overview_does_not_look_into_are_counted(process: Controlled, ask: Asking, screen: Screen) -> None:
    with RawClient(process.servers) as member:
        for number in range(9):
            beat(member, f"group-{number}")
        ask("POST", "/v1/faults", {"api": "ConsumerGroupHeartbeat", "error": "COORDINATOR_NOT_AVAILABLE"})
        for number in range(9):
            beat(member, f"group-{number}", 1)
        with Client(process.servers) as client:
            for number in range(95):
                commit(client, f"left-{number:02}", {("orders", 0): 0})
        screen.open(process.url)
        more = screen.link(re_named("and 3 more groups are", "stopped or behind"))
        expect(more).to_be_visible(timeout=MS)
        screen.sees("4 more groups were not looked at")
        more.click()
        screen.ready("groups")
        expect(screen.row("group-8")).to_contain_text("Something stops it", timeout=MS)


def test_the_requests_of_a_group_and_of_its_clients_have_two_names(
    process: Controlled, ask: Asking, screen: Screen
) -> None:
    with consuming(process, "billing") as reader:
        ask("GET", "/v1/groups/billing/wait", members=1, state="Stable", timeout=SECONDS)
        reader.pause()
        ask("POST", "/v1/topics/orders/records", {"records": [{"value": "unread", "partition": 0}]})
        screen.open(process.url, "groups/billing")
        screen.link("Requests that name the group").click()
        expect(screen.row("JoinGroup", "billing-1")).to_be_visible(timeout=MS)
        assert "group=billing" in screen.page.url
        screen.open(process.url, "groups/billing")
        screen.link("Requests of client billing-1").first.click()
        expect(screen.row("Fetch", "billing-1")).to_be_visible(timeout=MS)
        assert "client_id=billing-1" in screen.page.url
