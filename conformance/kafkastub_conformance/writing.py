"""Records for cases that read them."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cluster import Topic
from kafkastub_conformance.expecting import expect_that
from kafkawire.errors import ErrorCode as E


def write(on: Broker, topic: Topic, *batches: bytes, partition: int = 0) -> None:
    """Each batch has to be taken, acks=all."""
    for data in batches:
        rows = [{"index": partition, "records": data}]
        topics = [{"name": topic.name, "topic_id": topic.id, "partition_data": rows}]
        answer = on.ask("Produce", acks=-1, timeout_ms=10000, topic_data=topics)
        expect_that("error_code of Produce", answer.responses[0].partition_responses[0].error_code, E.NONE)
