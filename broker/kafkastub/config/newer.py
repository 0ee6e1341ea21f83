"""Configuration names that came with late releases: a broker of an older one does not have them.

Between 4.3 and 4.4 nothing else has changed in Kafka's tables; the test compares them with those of both releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OF_4_4: Final = frozenset(
    (
        "consumer.assignor.offload.enable",
        "errors.deadletterqueue.auto.create.topics.enable",
        "errors.deadletterqueue.copy.record.enable",
        "errors.deadletterqueue.group.enable",
        "errors.deadletterqueue.topic.name",
        "errors.deadletterqueue.topic.name.prefix",
        "group.consumer.assignor.offload.enable",
        "group.share.assignor.offload.enable",
        "group.share.dlq.manager.class.name",
        "group.streams.acceptable.recovery.lag",
        "group.streams.assignor.offload.enable",
        "group.streams.assignors",
        "group.streams.max.warmup.replicas",
        "group.streams.min.task.offset.interval.ms",
        "group.streams.num.warmup.replicas",
        "group.streams.rack.aware.assignment.tags",
        "group.streams.task.offset.interval.ms",
        "group.streams.topology.description.plugin.class",
        "log.remote.copy.lag.bytes",
        "log.remote.copy.lag.ms",
        "max.decompressed.message.bytes",
        "remote.copy.lag.bytes",
        "remote.copy.lag.ms",
        "sasl.oauthbearer.allow.unverified.audience",
        "sasl.oauthbearer.allow.unverified.issuer",
        "share.assignor.offload.enable",
        "streams.acceptable.recovery.lag",
        "streams.assignor.name",
        "streams.assignor.offload.enable",
        "streams.num.warmup.replicas",
        "streams.rack.aware.assignment.tags",
        "streams.task.offset.interval.ms",
    )
)
"""Of brokers, topics and groups."""


def follows(release: str | None, major: int, minor: int) -> bool:
    """Whether a broker of `release` ("2.8"; None is the newest) does what came with that release of Kafka."""
    return release is None or tuple(map(int, release.split(".")[:2])) >= (major, minor)


def later_than(release: str | None) -> frozenset[str]:
    """The names that a broker of `release` does not have yet, as far as they are told apart: from 4.3 on."""
    return frozenset() if follows(release, 4, 4) else OF_4_4


def feature_levels(release: str | None) -> Mapping[str, tuple[int, int, int]]:
    """The features of a cluster: lowest and highest supported, and the one that is finalized at first."""
    from .releases import FEATURES, LATEST

    return FEATURES.get(".".join((release or LATEST).split(".")[:2]), {})
