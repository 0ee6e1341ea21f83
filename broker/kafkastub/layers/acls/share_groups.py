"""Guards of the APIs about share groups and their members; see `guards`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kafkastub.handlers.registry import Handler, Registration
from kafkastub.layers.acls.described_groups import describing
from kafkastub.layers.acls.heartbeats import heartbeats
from kafkastub.state.group_protocols import is_share_member_id, serves_share_protocol
from kafkawire.api import ApiKey
from kafkawire.messages.share_group_describe_response import DescribedGroup

_HIDDEN_TOPICS: Final = "The group has described topic(s) that the client is not authorized to describe."


def _heartbeat(api: Registration) -> Handler:
    return heartbeats(api, serves_share_protocol, is_share_member_id)


def _describe(api: Registration) -> Handler:
    """Describe on each group, and on each topic that is assigned in it."""
    return describing(api, serves_share_protocol, _assigned_topics, _HIDDEN_TOPICS)


def _assigned_topics(group: DescribedGroup) -> set[str]:
    return {topic.topic_name for member in group.members for topic in member.assignment.topic_partitions}


GUARDS: Final[Mapping[ApiKey, Callable[[Registration], Handler]]] = {
    ApiKey.SHARE_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.SHARE_GROUP_DESCRIBE: _describe,
}
