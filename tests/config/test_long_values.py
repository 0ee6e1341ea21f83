"""Values are a client's bytes, 32 KB each: whatever they are, they are read in one pass and refused in good form."""

from __future__ import annotations

import contextlib
import time

import pytest

from kafkastub.config import ConfigError, definition
from kafkastub.config.connection_limits import BadOverrides, per_ip_overrides
from kafkastub.config.definition import split_at_commas
from kafkastub.config.errors import InvalidValue
from kafkastub.config.kafka_table import BROKER, CLIENT_METRICS, GROUP, TOPIC, Row
from kafkastub.config.listeners import parse_address

LONG = 32_767
"""Bytes of a text in a request, at most."""
MOST_MS = 100
VALUES = {
    "digits": "1" * LONG,
    "digits and a letter": "1" * (LONG - 1) + "x",
    "digits, a point and a letter": "1" * (LONG // 2) + "." + "1" * (LONG // 2) + "x",
    "an exponent": "1e" + "1" * (LONG - 3) + "x",
    "spaces": "a" + " " * (LONG - 2) + "b",
    "commas": "," * LONG,
    "spaces and commas": "a" + " ," * (LONG // 2) + "b",
    "pairs": "1:1," * (LONG // 4) + "x",
    "colons": ":" * LONG,
    "slashes": "://" * (LONG // 3),
    "a duration": "by_duration:PT" + "1" * (LONG - 15) + "x",
}


def each_form() -> dict[str, Row]:
    """One name of each type and constraint that there is."""
    found: dict[str, Row] = {}
    for table in (BROKER, TOPIC, GROUP, CLIENT_METRICS):
        for name, row in table.items():
            found.setdefault(f"{row[0]} {row[3]}", (name, *row))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_no_value_takes_long(value: str):
    slow = {}
    for form, (name, *row) in each_form().items():
        begin = time.process_time()
        with contextlib.suppress(InvalidValue):
            definition.check(name, tuple(row), definition.parse(name, tuple(row), value))  # type: ignore[arg-type]
        took = 1000 * (time.process_time() - begin)
        if took > MOST_MS:
            slow[form] = took
    assert slow == {}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_nor_do_limits_of_addresses_or_addresses(value: str):
    begin = time.process_time()
    with pytest.raises((BadOverrides, ConfigError)):
        per_ip_overrides(value + "x")
    if not value.isdigit():
        with pytest.raises(ConfigError):
            parse_address(value)
    assert 1000 * (time.process_time() - begin) < MOST_MS


def test_a_number_of_very_many_digits_is_out_of_range():
    row = TOPIC["retention.ms"]
    with pytest.raises(InvalidValue, match="Not a number of type LONG"):
        definition.parse("retention.ms", row, "1" * 5000)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        (",", ["", ""]),
        ("a , b", ["a", "b"]),
        (" a,b ", [" a", "b "]),
        ("a,\t\n b , , c", ["a", "b", "", "c"]),
        ("a\u00a0,b", ["a\u00a0", "b"]),
    ],
)
def test_texts_are_split_as_java_splits_them(text: str, parts: list[str]):
    assert split_at_commas(text) == parts


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("1.", 1), (".5", 0.5), ("1.5e3", 1500), ("1e-3d", 0.001), ("+2F", 2), ("1.e1", 10)]
)
def test_a_double_is_read_as_by_java(text: str, value: float):
    assert definition.parse("min.cleanable.dirty.ratio", TOPIC["min.cleanable.dirty.ratio"], text) == value


@pytest.mark.parametrize("text", [".", "", "e1", "1e", "1..", "٣", "1_0", "0x1", "d"])
def test_what_is_no_double(text: str):
    with pytest.raises(InvalidValue, match="Not a number of type DOUBLE"):
        definition.parse("min.cleanable.dirty.ratio", TOPIC["min.cleanable.dirty.ratio"], text)
