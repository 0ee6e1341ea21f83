"""Whose quota it is, and who is counted together. The order is that of Kafka's documentation, most specific first."""

from __future__ import annotations

import pytest

from kafkastub.security.quota_meters import UNLIMITED, Meters, Rates, counted_as, limit_of
from kafkastub.security.quota_rates import Rate, Windows
from kafkastub.security.quotas import Quotas, Who, entity

RATE = "producer_byte_rate"
DEFAULT = Windows(11, 1000)
ORDER: list[Who] = [
    ("alice", "app"), ("alice", None), ("alice", ""), (None, "app"), (None, None), (None, ""), ("", "app"), ("", None),
]  # fmt: skip


def limit(limits: dict[Who, float], user: str, client_id: str) -> float:
    return limit_of(limits, *counted_as(limits, user, client_id))


@pytest.mark.parametrize("first", range(len(ORDER)))
def test_the_most_specific_quota_holds(first: int):
    limits = {who: float(index) for index, who in enumerate(ORDER) if index >= first}
    assert limit(limits, "alice", "app") == first


@pytest.mark.parametrize(
    ("who", "user", "client_id"),
    [
        (("alice", "app"), "alice", "other"),
        (("alice", "app"), "bob", "app"),
        (("alice", None), "bob", "app"),
        (("alice", ""), "bob", "app"),
        ((None, "app"), "alice", "other"),
        (("", "app"), "alice", "other"),
        (("", None), "alice", ""),
        (("alice", None), "alice", ""),
        ((None, None), "alice", ""),
    ],
)
def test_who_has_none(who: Who, user: str, client_id: str):
    assert limit({who: 1.0}, user, client_id) == UNLIMITED


def test_a_client_without_an_id_has_the_users_quota_only():
    assert limit({("alice", ""): 1.0, ("", None): 2.0}, "alice", "") == 1
    assert limit({("alice", None): 1.0, ("alice", ""): 2.0}, "alice", "") == 2


def changed(quotas: Quotas, value: float | None, **who: str | None) -> None:
    parts = entity((kind.replace("_", "-"), name) for kind, name in who.items())
    assert quotas.alter([(parts, [(RATE, value)])]) == [(parts, None)]


def test_who_shares_a_users_quota_is_counted_together():
    quotas = Quotas()
    changed(quotas, 1000, user="alice")
    rates = Rates(quotas, RATE, DEFAULT)
    assert rates.record(1, "alice", "one", 8000, 0) == 0
    assert rates.record(1, "alice", "two", 8000, 0) == 6000
    assert rates.record(2, "alice", "two", 8000, 0) == 0  # another node counts for itself
    assert rates.record(1, "bob", "one", 80_000, 0) == 0


def test_users_under_the_default_are_counted_each():
    quotas = Quotas()
    changed(quotas, 1000, user=None)
    rates = Rates(quotas, RATE, DEFAULT)
    assert [rates.record(1, user, "app", 8000, 0) for user in ("alice", "bob")] == [0, 0]


def test_users_under_a_client_ids_quota_are_counted_together():
    quotas = Quotas()
    changed(quotas, 1000, client_id=None)
    rates = Rates(quotas, RATE, DEFAULT)
    assert [rates.record(1, user, "app", 8000, 0) for user in ("alice", "bob")] == [0, 6000]


def test_nothing_is_counted_while_nobody_has_a_quota():
    quotas = Quotas()
    rates = Rates(quotas, RATE, DEFAULT)
    assert rates.record(1, "alice", "app", 1_000_000, 0) == 0
    changed(quotas, 1000, client_id="app")
    assert rates.record(1, "alice", "app", 5000, 0) == 0
    assert rates.record(1, "alice", "other", 1_000_000, 0) == 0  # has none, and is counted
    changed(quotas, 1000, client_id="other")
    assert rates.record(1, "alice", "other", 0, 0) == 990_000
    changed(quotas, 100_000, client_id="other")
    assert rates.record(1, "alice", "other", 0, 0) == 0


def test_most_at_once_is_what_the_whole_windows_allow():
    quotas = Quotas()
    changed(quotas, 1000, client_id="app")
    rates = Rates(quotas, RATE, DEFAULT)
    assert rates.most_at_once(1, "alice", "app", 0) == 10_000
    assert rates.most_at_once(1, "alice", "other", 0) == UNLIMITED


def test_clients_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kafkastub.security.quota_meters._MOST", 10)
    quotas = Quotas()
    changed(quotas, 1000, client_id=None)
    meters: Meters[Rate] = Meters(quotas, RATE, DEFAULT, Rate)
    for number in range(1000):
        meters.of(1, "alice", f"app{number}", number)
    assert len(meters._counted) <= 10
    assert hash((1, ("", "app999"))) in meters._counted
    assert not any(isinstance(key, tuple) for key in meters._counted)  # a client's names are as long as it likes


def test_addresses_are_the_same_however_they_are_written():
    quotas = Quotas()
    for number, ip in enumerate(("10.1", "0:0:0:0:0:0:0:1", "localhost")):
        who = entity([("ip", ip)])
        assert quotas.alter([(who, [("connection_creation_rate", number + 1.0)])]) == [(who, None)]
    assert quotas.connection_rate("10.0.0.1") == 1
    assert quotas.connection_rate("::1") == 2
    assert quotas.connection_rate("127.0.0.1") == 3
    assert quotas.connection_rate("10.0.0.2") is None
    quotas.alter([(entity([("ip", None)]), [("connection_creation_rate", 7.0)])])
    assert quotas.connection_rate("10.0.0.2") == 7
    assert not quotas.of_clients
