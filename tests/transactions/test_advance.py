"""A test that moves the clock sees all that comes of it when the call returns."""

from __future__ import annotations

from kafkastub import KafkaStub
from kafkastub.client.connection import Connection
from kafkawire.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from kafkawire.messages.init_producer_id_request import InitProducerIdRequest
from kafkawire.messages.list_transactions_request import ListTransactionsRequest


def test_very_many_transactions_that_time_out_at_once_are_aborted_when_the_call_returns() -> None:
    count = 450
    with KafkaStub(topics={"orders": 3}) as stub:
        stub.clock.freeze()
        host, _, port = stub.bootstrap_servers.rpartition(":")
        with Connection(host, int(port)) as connection:
            topics = [AddPartitionsToTxnTopic("orders", range(3))]
            for number in range(count):
                name = f"tx-{number}"
                who = connection.ask(InitProducerIdRequest(name, 60_000), 5)
                request = AddPartitionsToTxnRequest((), name, who.producer_id, who.producer_epoch, topics)
                connection.ask(request, 3)
            stub.clock.advance(minutes=2, timers=True)
            listed = connection.ask(ListTransactionsRequest(), 2).transaction_states
    assert [one.transaction_state for one in listed] == ["CompleteAbort"] * count
