"""Requests with as many entries as one may have: the others hardly notice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.api import ApiKey
from kafkawire.catalogue import request_class
from kafkawire.header import is_flexible
from tests.hostile.many import TOPICS, Many, requests
from tests.hostile.prober import LONGEST_MS
from tests.hostile.test_hostile import linux, memory_mb
from tests.hostile.test_many import open_transaction
from tests.hostile.waits import shortest_wait
from tests.process.serving import Serving
from tests.rawclient import RawClient

AT_THE_LIMIT = 2_000_000
"""Bytes with which most requests have as many entries as they may, or more."""
DEAREST = (
    "OffsetFetch v8, other names",
    "DescribeTopicPartitions, unknown topics",
    "OffsetCommit, one partition",
    "AlterUserScramCredentials, deletions",
    "WriteTxnMarkers, unknown topics",
)
"""Those that took longest, of each kind one."""


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with Serving("--topic", *TOPICS, "--config", "auto.create.topics.enable=false") as process:
        open_transaction(process)
        yield process


def wait_of(serving: Serving, one: Many) -> float:
    """How long another client waits meanwhile, in ms; the request is answered, or its connection ended."""
    with RawClient(serving.servers) as client:

        def attack() -> None:
            nonlocal client
            flexible = is_flexible(request_class(ApiKey(one.key)), one.version)
            client.send(one.key, one.version, one.body, flexible)
            if client.drain() is None:
                client.close()
                client = RawClient(serving.servers)

        return shortest_wait(serving.servers, attack)


@linux
def test_many_groups_in_a_cluster_of_three_nodes():
    """The node that is asked coordinates a third of them."""
    with Serving("--nodes", "3", "--topic", *TOPICS, "--config", "auto.create.topics.enable=false") as cluster:
        (one,) = requests(AT_THE_LIMIT // 5, ("OffsetFetch v8, other names",))
        assert wait_of(cluster, one) <= LONGEST_MS


@linux
def test_the_dearest_requests_at_the_limit(serving: Serving):
    slow = {
        one.name: round(ms) for one in requests(AT_THE_LIMIT, DEAREST) if (ms := wait_of(serving, one)) > LONGEST_MS
    }
    assert slow == {}


@linux
def test_more_entries_than_a_request_may_have_end_the_connection_at_once(serving: Serving):
    before = memory_mb(serving)
    (one,) = requests(AT_THE_LIMIT // 2, ("FindCoordinator v4, one name",))
    with RawClient(serving.servers) as client:
        client.send(one.key, one.version, one.body, flexible=True)
        assert client.drain() is None
    assert "FindCoordinator v4 names too much" in serving.stderr
    assert memory_mb(serving) - before < 50


@pytest.mark.soak
@linux
def test_every_request_at_the_limit(serving: Serving):
    slow = {one.name: round(ms) for one in requests(AT_THE_LIMIT) if (ms := wait_of(serving, one)) > LONGEST_MS}
    assert slow == {}
