"""/v1/topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field, StrictInt

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem, of_kafka
from kafkastub.control.routes.shapes import Body, Limit, Names, Offset, Text, body_example, example
from kafkastub.control.walks import Walks
from kafkastub.metadata.ids import uuid_text
from kafkastub.state.topics import create_topic, delete_topics
from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.metadata import PartitionState, Topic
    from kafkastub.state.broker_state import BrokerState


class NewTopic(Body):
    """A topic to create."""

    model_config = body_example(name="orders", partitions=3, configs={"retention.ms": "3600000"})

    name: Text
    partitions: StrictInt = Field(-1, description="number of partitions; -1: the broker's num.partitions")
    replication_factor: StrictInt = Field(
        -1, description="number of replicas; -1: the broker's default.replication.factor"
    )
    configs: Names[Text] = Field(default_factory=dict, description="Kafka's topic configurations")


class PartitionInfo(BaseModel):
    """A partition."""

    partition: int
    leader: int = Field(description="node id of the leader; -1 for none")
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    log_start_offset: int
    log_end_offset: int
    last_stable_offset: int = Field(
        description="first offset of the oldest open transaction; otherwise the high watermark"
    )
    size_bytes: int = Field(description="bytes of its batches as stored")


class TopicInfo(BaseModel):
    """A topic."""

    model_config = example(
        name="orders", topic_id="Yx0Kc0sPQmWqVb2m7xk3Zg", internal=False, partitions=3, replication_factor=1,
        configs={}, records=1200, size_bytes=96000,
    )  # fmt: skip

    name: str
    topic_id: str
    internal: bool
    partitions: int
    replication_factor: int
    configs: dict[str, str] = Field(description="configurations that differ from the broker's")
    records: int = Field(
        description="offsets from the start to the end of its partitions; after compaction more than there are records"
    )
    size_bytes: int = Field(description="bytes of all its batches as stored")


class TopicList(BaseModel):
    """Topics in the order of their creation, or sorted."""

    topics: list[TopicInfo]
    total: int = Field(description="number of matches, listed or not")


class TopicDetail(TopicInfo):
    """A topic with its partitions."""

    partition_list: list[PartitionInfo] = Field(description="at most `limit` items")


class TopicQuery(Body):
    """How much."""

    limit: Limit = 1000
    offset: Offset = 0


class TopicsQuery(TopicQuery):
    """Which, and how much."""

    search: Text | None = Field(None, description="only topics whose name contains this text")
    internal: bool | None = Field(None, description="true: only internal topics; false: none; null: all")
    sort: Literal["created", "name", "records", "size"] = Field(
        "created", description="name, or the largest number of records or bytes first"
    )


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/topics", tags=["topics"])
    walks = Walks()

    def find(name: str) -> Topic:
        topic = hosted.running().state.cluster.topic(name)
        if topic is None:
            raise Problem(404, f"topic {name!r} does not exist")
        return topic

    @router.get("", summary="List topics")
    async def list_topics(query: Annotated[TopicsQuery, Query()]) -> TopicList:
        state = hosted.running().state
        found = await _found(state, query, walks)
        page = found[query.offset : query.offset + query.limit]
        listed = [_info(*one) async for one in walks.through(extents(state, page))]
        return TopicList(topics=listed, total=len(found))

    @router.post("", status_code=201, summary="Create a topic; clients see it at once")
    async def create(body: NewTopic) -> TopicInfo:
        state = hosted.running().state
        try:
            topic = hosted.call(
                lambda: create_topic(state, body.name, body.partitions, body.replication_factor, body.configs)
            )
        except KafkaError as error:
            raise of_kafka(error, f"topic {body.name!r}") from None
        return _info_at_once(state, topic)

    @router.get(
        "/{name}",
        summary="Return a topic with its partitions",
        description="`partitions` is how many there are, `partition_list` is what they are.",
    )
    async def describe(name: str, query: Annotated[TopicQuery, Query()]) -> TopicDetail:
        topic = find(name)
        state = hosted.running().state
        page = topic.partitions[query.offset : query.offset + query.limit]
        partitions = [one async for one in walks.through(_partition(state, topic, each) for each in page)]
        (info,) = [_info(*one) async for one in walks.through(extents(state, [topic]))]
        return TopicDetail(**info.model_dump(), partition_list=partitions)

    @router.delete("/{name}", summary="Delete a topic, with the committed offsets of its partitions")
    async def delete(name: str) -> TopicInfo:
        topic = find(name)
        broker = hosted.running()
        told = _info_at_once(broker.state, topic)
        hosted.call(lambda: delete_topics(broker.state, [name], broker.clock.broker_ms()))
        return told

    return router


async def _found(state: BrokerState, query: TopicsQuery, walks: Walks) -> list[Topic]:
    """Those that were asked for, in order. A thousand take a millisecond."""
    topics: Iterable[Topic] = state.cluster.topics.values()
    if query.internal is not None:
        topics = (each for each in topics if each.internal == query.internal)
    if query.search is not None:
        wanted = query.search.casefold()
        topics = (each for each in topics if wanted in each.name.casefold())
    if query.sort == "created":
        return list(topics)
    if query.sort == "name":
        return sorted(topics, key=lambda each: each.name)
    figure = "records" if query.sort == "records" else "size_bytes"
    ordered = [(-one[figure], topic.name, topic) async for topic, one in walks.through(extents(state, topics))]
    return [topic for _, _, topic in sorted(ordered, key=lambda one: one[:2])]


def extents(state: BrokerState, topics: Iterable[Topic]) -> Iterator[tuple[Topic, dict[str, int]] | None]:
    """How many records topics have, by their offsets, and bytes, topic by topic.

    None on the way: a log of the broker's own topics is encoded to be measured.
    """
    for topic in list(topics):
        records = size = 0
        for log in state.logs.made(topic.topic_id):
            records += log.log_end_offset - log.log_start_offset
            size += log.size
            yield None
        yield topic, {"records": records, "size_bytes": size}


def _info_at_once(state: BrokerState, topic: Topic) -> TopicInfo:
    (info,) = [_info(*one) for one in extents(state, [topic]) if one is not None]
    return info


def _partition(state: BrokerState, topic: Topic, partition: PartitionState) -> PartitionInfo:
    log = state.logs.log(topic.topic_id, partition.index)
    return PartitionInfo(
        partition=partition.index,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        log_start_offset=-1 if log is None else log.log_start_offset,
        log_end_offset=-1 if log is None else log.log_end_offset,
        last_stable_offset=-1 if log is None else log.last_stable_offset,
        size_bytes=0 if log is None else log.size,
    )


def _info(topic: Topic, extent: dict[str, int]) -> TopicInfo:
    return TopicInfo(
        name=topic.name,
        topic_id=uuid_text(topic.topic_id),
        internal=topic.internal,
        partitions=len(topic.partitions),
        replication_factor=topic.replication_factor,
        configs=topic.configs,
        **extent,
    )
