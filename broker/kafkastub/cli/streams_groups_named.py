"""Which partitions and topics the options of `kafkastub streams-groups` name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kafkastub.cli import kafka_order, output

if TYPE_CHECKING:
    from kafkastub.client import Client

_INTERNAL: Final = re.compile(
    r".*(-changelog|-repartition|-subscription-registration-topic|-subscription-response-topic"
    r"|.-KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic)",
    re.ASCII | re.DOTALL,
)
"""The names that Kafka Streams gives its topics, behind the application's id."""


def inputs(client: Client, group_id: str) -> list[tuple[str, int]]:
    """The partitions of source topics of which the group has an offset. Raises BrokerError."""
    from kafkastub.client import groups, streams_groups

    sources = streams_groups.describe(client, group_id).source_topics
    return kafka_order.partitions(place for place in groups.offsets(client, group_id) if place[0] in sources)


def internal_topics(client: Client, group_id: str) -> list[str]:
    """The topics of the group's own, by their names too: others are named, and left out. Raises BrokerError."""
    from kafkastub.client import streams_groups

    found = []
    for topic in streams_groups.describe(client, group_id).internal_topics:
        if topic.startswith(f"{group_id}-") and _INTERNAL.fullmatch(topic):
            found.append(topic)
        else:
            what = f"The internal topic '{topic}' is not inferred as internal"
            output.error(f"{what} and thus will not be deleted with the group '{group_id}'.")
    return found
