"""Hashes and orders of Java collections; the expected values come from a JVM."""

from __future__ import annotations

import pytest

from kafkawire.java_order import (
    copied,
    hash_map_order,
    string_hash,
    string_map_order,
    string_order,
    string_timeline_order,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("my-group", -1906497762),
        ("console-consumer-12345", 158455506),
        ("größe", 98762257),
        ("\U0001f600", 1772899),
        ("polygenelubricants", -(2**31)),
    ],
)
def test_string_hash_is_the_one_of_java(text: str, expected: int):
    assert string_hash(text) == expected & 0xFFFFFFFF


def order(*names: str) -> list[str]:
    return hash_map_order((string_hash(n), n) for n in names)


def test_map_order_is_by_bucket_then_by_insertion():
    names = ("range", "roundrobin", "sticky", "cooperative-sticky")
    assert order(*names) == ["sticky", "range", "roundrobin", "cooperative-sticky"]
    assert order("Aa", "BB") == ["Aa", "BB"]
    assert order("BB", "Aa") == ["BB", "Aa"]


def test_a_map_grows_with_its_thirteenth_entry():
    names = [f"group-{i}" for i in range(14)]
    assert order(*names[:12]) == [names[i] for i in (10, 11, 7, 6, 9, 8, 3, 2, 5, 4, 1, 0)]
    assert order(*names) == [names[i] for i in (10, 12, 11, 7, 6, 9, 8, 3, 2, 5, 4, 13, 1, 0)]


def test_a_map_made_for_a_few_grows_with_what_is_more_than_three_quarters():
    names = ("", "group", "user")
    in_order = [hash_map_order(((string_hash(n), n) for n in names[:count]), capacity=count) for count in range(4)]
    assert in_order == [[], [""], ["", "group"], ["", "user", "group"]]
    assert hash_map_order(((string_hash(n), n) for n in ("user", "client-id")), capacity=2) == ["client-id", "user"]


def test_a_set_is_made_large_enough_for_what_it_copies():
    assert [copied(count) for count in (0, 11, 12, 24)] == [16, 16, 17, 33]


def test_texts_are_in_the_order_of_a_map_with_these_keys_each_once():
    assert string_map_order(("user", "client-id", "user"), 3) == hash_map_order(
        ((string_hash(n), n) for n in ("user", "client-id")), 3
    )
    assert sorted(("\uff5e", "\U0001f600", "a"), key=string_order) == ["a", "\U0001f600", "\uff5e"]


def test_kafka_s_own_map_has_another_order_and_never_shrinks():
    members = [f"member-{i}" for i in range(14)]

    def numbers(*args: int) -> list[str]:
        return [f"member-{i}" for i in args]

    assert string_timeline_order(members[:3]) == numbers(0, 2, 1)
    assert string_timeline_order(members[:5]) == numbers(3, 0, 2, 4, 1)
    assert string_timeline_order(members) == numbers(13, 3, 10, 8, 0, 5, 12, 2, 7, 4, 11, 9, 1, 6)
    assert string_timeline_order(members[:4], peak=14) == numbers(3, 0, 2, 1)
    assert string_timeline_order(("größe", "\U0001f600", "", "BB", "Aa")) == ["", "Aa", "BB", "größe", "\U0001f600"]


@pytest.mark.parametrize("length", [255, 256, 257, 299, 300, 301, 512, 767, 768, 32_000])
@pytest.mark.parametrize("letters", ["az:-_09", "aé€\U0001f600x"])
def test_long_texts_are_hashed_as_short_ones(length: int, letters: str):
    text = (letters * length)[:length]
    units = string_order(text)
    expected = 0
    for at in range(0, len(units), 2):
        expected = (31 * expected + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    assert string_hash(text) == expected
