"""Subscriptions are parsed as version 0, whatever they say (KIP-496)."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire.subscription import subscribed_topics
from tests.coordinator.context import subscription


@given(st.lists(st.text(max_size=5), max_size=5), st.integers(-(2**15), 2**15 - 1), st.binary(max_size=4), st.binary())
def test_topics_come_back_whatever_the_version_the_user_data_and_what_follows(
    topics: list[str], version: int, user_data: bytes, more: bytes
):
    metadata = subscription(*topics, version=version, user_data=user_data)
    assert subscribed_topics(metadata + more) == set(topics)


def test_null_user_data_is_user_data():
    assert subscribed_topics(subscription("a")[:-4] + struct.pack(">i", -1)) == {"a"}


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\0\0",
        struct.pack(">hi", 0, -1) + struct.pack(">i", -1),
        struct.pack(">hi", 0, 2**31 - 1),
        struct.pack(">hih", 0, 1, -1) + struct.pack(">i", -1),
        subscription("a")[:-4],
        subscription("a", user_data=b"long")[:-1],
    ],
    ids=["empty", "version only", "null topics", "absurd count", "null topic", "no user data", "short user data"],
)
def test_what_cannot_be_parsed_is_not_known(metadata: bytes):
    assert subscribed_topics(metadata) is None


@given(st.binary(max_size=40))
def test_any_bytes_are_parsed_or_not_known(metadata: bytes):
    topics = subscribed_topics(metadata)
    assert topics is None or all(isinstance(t, str) for t in topics)
