"""The settings of the brokers that scenarios are played on here: fresh ones, there for nothing else."""

from __future__ import annotations

from tests.security.brokers import CONFIG as SIGNED_IN

HOUR_MS = 3_600_000

COMMON: dict[str, object] = {
    "offsets.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": False,
    "log.retention.ms": -1,  # the stub's own default
}

CONSUMER: dict[str, object] = {"group.consumer.assignment.interval.ms": 0, "group.consumer.max.size": 3}
"""What consumer groups of the newer protocol need: members that are assigned at once, and a limit to their number."""

SHARE: dict[str, object] = {
    "group.share.assignment.interval.ms": 0,
    "group.share.max.size": 3,
    "group.share.record.lock.duration.ms": 60000,  # longer than a scenario
    "group.share.min.record.lock.duration.ms": 1000,
    "share.coordinator.state.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
}
"""What share groups need: members that are assigned at once, a limit to their number, and locks that run out never or
soon."""

STREAMS: dict[str, object] = {
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.max.size": 3,
    "group.streams.max.assignment.interval.ms": 3600000,
    "group.streams.session.timeout.ms": 3600000,  # longer than a run: who is thrown out later writes records
    "group.streams.max.session.timeout.ms": 7200000,
    "group.streams.min.session.timeout.ms": 1000,
    "group.streams.min.heartbeat.interval.ms": 500,
    "offsets.retention.check.interval.ms": 86400000,  # nobody deletes an empty group while a scenario looks
    "transaction.state.log.num.partitions": 1,
}
"""What streams groups need: members that are assigned at once, and a limit to their number."""

LEVELS = {"transactions": 2, "transactions-1": 1, "transactions-0": 0}
"""The level of the feature transaction.version where settings are named so."""

DATA: dict[str, object] = {
    "message.max.bytes": 60000,
    "fetch.max.bytes": 90000,
    "log.retention.check.interval.ms": 3600000,
    "transaction.state.log.num.partitions": 1,
}
"""What topics and records need: limits that a scenario reaches, and nothing that is deleted while it looks."""

GUARDED_COMMON: dict[str, object] = {
    **COMMON,
    "log.retention.check.interval.ms": 3600000,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
GUARDED: dict[str, dict[str, object]] = {
    "guarded-share": SHARE,
    "guarded-transactions": {"transaction.state.log.num.partitions": 1},
    "guarded-data": DATA,
    "guarded-consumer": {**CONSUMER, "transaction.state.log.num.partitions": 1},
}
"""Where scenarios change who may do what with their own groups, topics and transactional ids. The broker asks itself
as everybody does, so that everybody may do everything before there are entries.
"""

CONFIGS: dict[str, dict[str, object]] = {
    "plain": {**COMMON},
    "tight": {
        **COMMON,
        "group.max.size": 2,
        "offset.metadata.max.bytes": 10,
        "group.min.session.timeout.ms": 10,
        "group.max.session.timeout.ms": 60000,
    },
    "delayed": {**COMMON, "group.initial.rebalance.delay.ms": 300},
    "data": {**COMMON, **DATA},
    **{
        name: {**COMMON, "log.retention.check.interval.ms": 3600000, "transaction.state.log.num.partitions": 1}
        for name in LEVELS
    },
    "consumer": {**COMMON, **CONSUMER},
    "share": {**COMMON, **SHARE},
    "streams": {**COMMON, **STREAMS},
    "access": {
        **COMMON,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    },
    **{name: {**GUARDED_COMMON, **more} for name, more in GUARDED.items()},
    "admin": {
        **SIGNED_IN,
        **COMMON,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:root",
        "delegation.token.secret.key": "the secret key",
        "delegation.token.max.lifetime.ms": 48 * HOUR_MS,
        "delegation.token.expiry.time.ms": 24 * HOUR_MS,
    },
}
"""Broker settings by the name that a scenario uses, for Apache Kafka and the stub alike."""

ORDERLY: dict[str, object] = {
    "num.network.threads": 1,
    "num.io.threads": 1,
    "group.coordinator.threads": 1,
    "group.coordinator.append.linger.ms": 0,
    "transaction.state.log.num.partitions": 1,
    "share.coordinator.append.linger.ms": 0,
    "log.initial.task.delay.ms": 3600000,  # nothing is deleted or compacted while a scenario looks
    "log.cleaner.backoff.ms": 3600000,
}
"""What makes Apache Kafka handle requests in the order of their arrival; see the module `play`."""

LOG_DIRS = ("one", "two", "three")
"""Folders of a broker with the settings `admin`, within one of its own."""

PASSWORDS = {"alice": "s3cret=; x", "bob": "b", "root": "r"}
"""Of who signs in by PLAIN there."""
