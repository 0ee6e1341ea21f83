"""Who moves the clock sees all that comes of it when the call returns."""

from __future__ import annotations

from kafkastub import KafkaStub
from kafkastub.client.connection import Connection
from kafkastub.transactions import TransactionState
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
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
