"""The page of a proxy in front of a cluster: what only a stub can do is not offered, or says why it cannot be had."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from kafkastub import KafkaProxy, KafkaStub
from tests.page.screen import Screen

WHY = "needs a stub, and this is a proxy in front of a cluster"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with KafkaStub(topics={"orders": 2}) as stub:
        stub.produce("orders", "one")
        stub.commit("billing", {("orders", 0): 0})
        with KafkaProxy(stub.bootstrap_servers, control_port=0) as proxy:
            yield proxy.control_url


@pytest.fixture
def looking(screen: Screen) -> Iterator[Screen]:
    """What a proxy refuses is a failed request to the browser's console."""
    yield screen
    screen.complaints[:] = [one for one in screen.complaints if "501 (Not Implemented)" not in one]


def test_what_only_a_stub_has_is_not_in_the_navigation(looking: Screen, url: str) -> None:
    looking.open(url, "overview")
    told = looking.page.get_by_role("navigation", name="Views")
    expect(told.get_by_role("link", name="Topics")).to_be_visible()
    expect(told.get_by_role("link", name="Faults and holds")).to_be_visible()
    for name in ("Clock", "Snapshots", "Transactions", "Configuration", "Quotas", "ACLs"):
        expect(told.get_by_role("link", name=name, exact=True)).to_have_count(0)
    expect(looking.page.get_by_role("group", name="Broker time")).to_have_count(0)


@pytest.mark.parametrize("view", ["clock", "snapshots", "transactions", "config", "quotas", "acls"])
def test_who_goes_there_is_told_why(looking: Screen, url: str, view: str) -> None:
    looking.open(url, view)
    expect(looking.page.get_by_role("main")).to_contain_text(WHY)


def test_buttons_that_a_proxy_refuses_cannot_be_pressed(looking: Screen, url: str) -> None:
    looking.open(url, "nodes")
    for name in ("Add a node", "Stop node 1", "Let it lead", "Let it coordinate"):
        button = looking.page.get_by_role("button", name=name)
        expect(button).to_be_disabled()
        assert WHY in (button.get_attribute("title") or "")
    looking.open(url, "groups/billing")
    expect(looking.page.get_by_role("button", name="Sweep now")).to_be_disabled()


@pytest.mark.parametrize(
    "view", ["overview", "topics", "topics/orders", "groups", "groups/billing", "journal", "faults"]
)
def test_the_other_views_show_what_there_is(looking: Screen, url: str, view: str) -> None:
    looking.open(url, view)
    expect(looking.page.get_by_role("main")).not_to_contain_text("has failed")
