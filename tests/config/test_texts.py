"""Values of configurations that somebody sends: read in one pass, whatever is in them."""

from __future__ import annotations

import re
import time

import pytest

from kafkastub.config import InvalidValue, definition
from kafkastub.config.kafka_table import BROKER, TOPIC

LONG = 32_000
RATIO, REPLICAS = "min.cleanable.dirty.ratio", "leader.replication.throttled.replicas"


@pytest.mark.parametrize("text", ["a", "a,b", " a , b ,c", ",", " , ,", "a,,b", "a ,", ",a", "a\t,\n b", "a b , c d"])
def test_a_list_is_split_as_java_splits_it(text: str):
    assert definition.split_at_commas(text) == re.split(r"\s*,\s*", text)


@pytest.mark.parametrize("text", ["1", "1.", ".5", "1.5", "1e3", "1.e3", "-1.5E-3f", "+2d", "NaN", "-Infinity"])
def test_a_decimal_number(text: str):
    assert isinstance(definition.parse(RATIO, TOPIC[RATIO], text), float)


@pytest.mark.parametrize("text", ["", ".", "e3", "1e", "1..2", "1.5.", "x", "5" + LONG * "1" + "x"])
def test_no_decimal_number(text: str):
    with pytest.raises(InvalidValue):
        definition.parse(RATIO, TOPIC[RATIO], text)


def test_a_number_of_very_many_digits_is_none():
    with pytest.raises(InvalidValue):
        definition.parse("num.partitions", BROKER["num.partitions"], "1" * LONG)


@pytest.mark.parametrize("text", ["5" + LONG * "1" + "x", "5" + LONG * " " + "x"])
def test_no_text_takes_long(text: str):
    begin = time.process_time()
    for name in (RATIO, REPLICAS, "retention.ms", "preallocate"):
        try:
            definition.check(name, TOPIC[name], definition.parse(name, TOPIC[name], text))
        except InvalidValue:
            continue
    assert time.process_time() - begin < 1
