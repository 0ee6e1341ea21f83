"""/v1/topics."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import Body, Limit, Text, body_example, example
from kafkastub.metadata.ids import uuid_text
from kafkastub.state.topics import create_topic, delete_topics
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.metadata import Topic


class NewTopic(Body):
    """A topic to create."""

    model_config = body_example(name="orders", partitions=3, configs={"retention.ms": "3600000"})

    name: Text
    partitions: StrictInt = Field(-1, description="how many, -1: num.partitions of the broker")
    replication_factor: StrictInt = Field(-1, description="-1: default.replication.factor of the broker")
    configs: dict[Text, Text] = Field(default_factory=dict, description="overrides, as Kafka names them")


class PartitionInfo(BaseModel):
    """A partition."""

    partition: int
    leader: int = Field(description="a node's id, -1 where none leads")
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    log_start_offset: int
    log_end_offset: int


class TopicInfo(BaseModel):
    """A topic."""

    model_config = example(
        name="orders", topic_id="Yx0Kc0sPQmWqVb2m7xk3Zg", internal=False, partitions=3, replication_factor=1, configs={}
    )

    name: str
    topic_id: str
    internal: bool
    partitions: int
    replication_factor: int
    configs: dict[str, str] = Field(description="what it overrides")


class TopicList(BaseModel):
    """Topics in the order of their creation."""

    topics: list[TopicInfo]
    total: int = Field(description="how many there are, listed or not")


class TopicDetail(TopicInfo):
    """A topic with its partitions."""

    partition_list: list[PartitionInfo] = Field(description="as many as `limit` says")


class TopicsQuery(Body):
    """How much."""

    limit: Limit = 1000


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/topics", tags=["topics"])

    def find(name: str) -> Topic:
        topic = hosted.running().state.cluster.topic(name)
        if topic is None:
            raise Problem(404, f"topic {name!r} does not exist")
        return topic

    @router.get("", summary="All topics")
    async def list_topics(query: Annotated[TopicsQuery, Query()]) -> TopicList:
        topics = hosted.running().state.cluster.topics
        return TopicList(topics=[_info(each) for each in islice(topics.values(), query.limit)], total=len(topics))

    @router.post("", status_code=201, summary="Create a topic; clients see it at once")
    async def create(body: NewTopic) -> TopicInfo:
        state = hosted.running().state
        try:
            topic = hosted.call(
                lambda: create_topic(state, body.name, body.partitions, body.replication_factor, body.configs)
            )
        except KafkaError as error:
            raise of_kafka(error, f"topic {body.name!r}") from None
        return _info(topic)

    @router.get("/{name}", summary="One topic with its partitions")
    async def describe(name: str, query: Annotated[TopicsQuery, Query()]) -> TopicDetail:
        topic = find(name)
        logs = hosted.running().state.logs
        partitions = []
        for partition in topic.partitions[: query.limit]:
            log = logs.log(topic.topic_id, partition.index)
            partitions.append(
                PartitionInfo(
                    partition=partition.index,
                    leader=partition.leader,
                    leader_epoch=partition.leader_epoch,
                    replicas=partition.replicas,
                    isr=partition.isr,
                    log_start_offset=-1 if log is None else log.log_start_offset,
                    log_end_offset=-1 if log is None else log.log_end_offset,
                )
            )
        return TopicDetail(**_info(topic).model_dump(), partition_list=partitions)

    @router.delete("/{name}", summary="Delete a topic, with what groups have committed on it")
    async def delete(name: str) -> TopicInfo:
        topic = find(name)
        broker = hosted.running()
        hosted.call(lambda: delete_topics(broker.state, [name], broker.clock.broker_ms()))
        return _info(topic)

    return router


def _info(topic: Topic) -> TopicInfo:
    return TopicInfo(
        name=topic.name,
        topic_id=uuid_text(topic.topic_id),
        internal=topic.internal,
        partitions=len(topic.partitions),
        replication_factor=topic.replication_factor,
        configs=topic.configs,
    )
