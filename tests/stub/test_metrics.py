"""`stub.metrics()`: the meters of KIP-496, and transactions."""

from __future__ import annotations

from aiokafka import AIOKafkaConsumer, TopicPartition

from kafkastub import KafkaStub
from tests.stub.test_clock import FAST, assigned, in_thread
from tests.stub.test_transactions import producing
from tests.waiting import SECONDS


async def test_meters_count_offsets():
    async with KafkaStub(topics={"orders": 2}, config=FAST) as stub:
        stub.clock.freeze()
        group = {"bootstrap_servers": stub.bootstrap_servers, "group_id": "g", "enable_auto_commit": False}
        async with AIOKafkaConsumer("orders", **group) as consumer:
            await assigned(consumer)
            await consumer.commit({TopicPartition("orders", 0): 1, TopicPartition("orders", 1): 2})
        assert stub.metrics() == {
            "offset-commits": 2,
            "offset-expirations": 0,
            "offset-deletions": 0,
            "group-completed-rebalances": 1,
            "consumer-group-rebalances": 0,
            "share-group-rebalances": 0,
            "streams-group-rebalances": 0,
            "transactions-committed": 0,
            "transactions-aborted": 0,
            "transactions-timed-out": 0,
        }
        await in_thread(stub.clock.advance, days=7)
        assert stub.metrics()["offset-expirations"] == 2


def test_transactions_are_counted_by_their_ends():
    with KafkaStub(topics={"orders": 2}) as stub:
        producing(stub, "a").commit_transaction(SECONDS)
        producing(stub, "b").abort_transaction(SECONDS)
        producing(stub, "c")
        stub.clock.advance(hours=1, timers=True)
        counted = {name: count for name, count in stub.metrics().items() if name.startswith("transactions")}
    assert counted == {"transactions-committed": 1, "transactions-aborted": 2, "transactions-timed-out": 1}
