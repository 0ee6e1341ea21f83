"""Topics that are to be created together, as one CreateTopics request asks for them. Kafka: ReplicationControlManager.

Clients ask with such a request; brokers do so themselves for the internal topics of streams groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from kafkastub.state.pace import Pace, no_pause, paced
from kafkastub.state.topics import TopicPlan, check_batch, name_error, plan_topic
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.messages.create_topics_request import CreatableTopic

if TYPE_CHECKING:
    from kafkastub.state.broker_state import BrokerState
    from kafkastub.state.quota_usage import Mutations

MOST_PARTITIONS: Final = 10_000


def planned(
    state: BrokerState, asked: Sequence[CreatableTopic], counted: Mutations | None, pace: Pace = no_pause
) -> list[TopicPlan | KafkaError]:
    """What each topic is to be, or why it cannot be created. Nothing is created yet.

    Args:
        asked: names differ.
        counted: counts the partitions, where there are quotas.

    Raises KafkaError where none of them can be: POLICY_VIOLATION for too many partitions or records to write.
    """
    if sum(_partitions(state, topic) for topic in paced(asked, pace)) > MOST_PARTITIONS:
        raise KafkaError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")
    outcomes = list(_outcomes(state, asked, counted, pace))
    check_batch(sum(plan.records for plan in outcomes if isinstance(plan, TopicPlan)))
    return outcomes


def _partitions(state: BrokerState, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == -1:
        return int(state.config["num.partitions"])
    return max(0, topic.num_partitions)


def _outcomes(
    state: BrokerState, asked: Sequence[CreatableTopic], counted: Mutations | None, pace: Pace
) -> Iterable[TopicPlan | KafkaError]:
    """Names first, then everything else: topics of one request do not collide with each other."""
    names = {topic.name: name_error(state.cluster, topic.name) for topic in paced(asked, pace)}
    for topic in paced(asked, pace):
        error = names[topic.name]
        if error is not None:
            yield error
            continue
        try:
            plan = plan_topic(
                state,
                topic.name,
                topic.num_partitions,
                topic.replication_factor,
                [(config.name, config.value) for config in topic.configs],
                [(assignment.partition_index, assignment.broker_ids) for assignment in topic.assignments],
            )
            if counted is not None:
                counted.count(plan.partitions)
        except KafkaError as refusal:
            yield refusal
        else:
            yield plan
