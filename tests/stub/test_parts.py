"""The parts of a stub, and the short names that it has for what is theirs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.stub.nodes import StubNodes
from kafkastub.stub.quotas import StubQuotas
from kafkastub.stub.tls import StubTls

SHORT: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (KafkaStub.add_node, StubNodes.add),
    (KafkaStub.remove_node, StubNodes.remove),
    (KafkaStub.leader_of, StubNodes.leader_of),
    (KafkaStub.coordinator_of, StubNodes.coordinator_of),
    (KafkaStub.move_leader, StubNodes.move_leader),
    (KafkaStub.move_coordinator, StubNodes.move_coordinator),
    (KafkaStub.elect_leaders, StubNodes.elect_leaders),
    (KafkaStub.set_quota, StubQuotas.set),
    (KafkaStub.client_certificate, StubTls.client_certificate),
    (KafkaStub.show_certificate, StubTls.show_certificate),
]


@pytest.mark.parametrize(("short", "whole"), SHORT, ids=[short.__name__ for short, _ in SHORT])
def test_a_short_name_takes_what_the_part_takes(short: Callable[..., Any], whole: Callable[..., Any]):
    assert inspect.signature(short) == inspect.signature(whole)


@pytest.mark.parametrize("process", [False, True])
def test_the_parts_of_a_stub_wherever_it_runs(process: bool):
    with KafkaStub(topics=["orders"], process=process) as stub:
        second = stub.nodes.add(rack="b")
        assert (second.id, second.rack, second.running, len(stub.nodes)) == (2, "b", True, 2)
        stub.nodes.move_leader("orders", 0, 2)
        assert stub.nodes.leader_of("orders", 0) == stub.leader_of("orders", 0) == 2
        stub.quotas.set(client_id="loader", producer_byte_rate=1_000)
        with pytest.raises(ValueError, match="no quota is named"):
            stub.quotas.set(client_id="loader")
        with pytest.raises(RuntimeError, match="no listener of this stub speaks TLS"):
            _ = stub.tls.ca_file


def test_a_part_outlives_a_stub_that_starts_again():
    stub = KafkaStub()
    clock, nodes = stub.clock, stub.nodes
    for _ in range(2):
        with stub:
            clock.freeze()
            assert clock.frozen
            assert list(nodes) == [1]
