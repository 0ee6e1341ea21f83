"""Who moves the clock sees all that comes of it when the call returns."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from kafkastub import KafkaStub
from kafkastub.client.connection import Connection
from kafkastub.transaction_coordinator import TransactionState
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.describe_transactions_request import DescribeTransactionsRequest
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest


def test_very_many_transactions_that_time_out_in_one_moment_are_aborted_when_the_call_returns() -> None:
    count = 250
    with KafkaStub(topics={"orders": 3}) as stub:
        host, _, port = stub.bootstrap_servers.rpartition(":")
        with Connection(host, int(port)) as connection:
            topics = [AddPartitionsToTxnTopic("orders", range(3))]
            for number in range(count):
                name = f"tx-{number}"
                who = connection.ask(InitProducerIdRequest(name, 900_000), 5)
                request = AddPartitionsToTxnRequest((), name, who.producer_id, who.producer_epoch, topics)
                connection.ask(request, 3)
        runner = stub.clock._runner
        broker = runner.running()
        coordinator = broker.state.transactions.coordinator

        def advance() -> list[TransactionState]:
            _, timer_ms = broker.clock.both()
            for one in coordinator.transactions.values():
                coordinator.deadlines.arm(one.deadline, timer_ms + 1_000)
            broker.advance(1_000, timers=True)
            return [one.metadata.state for one in coordinator.transactions.values()]

        assert runner.call(advance) == [TransactionState.COMPLETE_ABORT] * count


@pytest.mark.parametrize("over_http", [False, True])
def test_markers_that_wait_for_the_disk_are_written_when_the_call_returns(tmp_path: Path, over_http: bool) -> None:
    count = 250
    settings = {"kafkastub.flush": "message", "transaction.state.log.num.partitions": 1}
    with KafkaStub(topics={"orders": count}, config=settings, data_dir=tmp_path, control_port=0) as stub:
        host, _, port = stub.bootstrap_servers.rpartition(":")
        with Connection(host, int(port)) as connection:
            who = connection.ask(InitProducerIdRequest("tx", 60_000), 5)
            topics = [AddPartitionsToTxnTopic("orders", range(count))]
            connection.ask(AddPartitionsToTxnRequest((), "tx", who.producer_id, who.producer_epoch, topics), 3)
            if over_http:
                step = {"seconds": 61, "timers": True}
                httpx.post(f"{stub.control_url}/v1/clock/advance", json=step, timeout=30).raise_for_status()
            else:
                stub.clock.advance(seconds=61, timers=True)
            (told,) = connection.ask(DescribeTransactionsRequest(["tx"]), 0).transaction_states
    assert told.transaction_state == "CompleteAbort"


def test_markers_that_are_held_are_not_waited_for(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, config={"kafkastub.flush": "message"}, data_dir=tmp_path) as stub:
        host, _, port = stub.bootstrap_servers.rpartition(":")
        with Connection(host, int(port)) as connection:
            who = connection.ask(InitProducerIdRequest("tx", 60_000), 5)
            topics = [AddPartitionsToTxnTopic("orders", [0])]
            connection.ask(AddPartitionsToTxnRequest((), "tx", who.producer_id, who.producer_epoch, topics), 3)
            stub.transactions.hold_markers("tx")
            stub.clock.advance(seconds=61, timers=True)
            (told,) = connection.ask(DescribeTransactionsRequest(["tx"]), 0).transaction_states
    assert told.transaction_state == "PrepareAbort"
