"""One sentence of our own about a configuration, for DescribeConfigs (KIP-569): what it does here.

Topic configurations, the broker's defaults for them, and what the group coordinator goes by; about the rest we have
nothing to say that Kafka's documentation does not.
"""

from __future__ import annotations

from typing import Final

from .kafka_table import GROUP_SYNONYMS, TOPIC_SYNONYMS

TOPIC_TEXTS: Final[dict[str, str]] = {
    "cleanup.policy": "What happens to old records: delete, compact, both, or nothing where it is empty.",
    "compression.gzip.level": "Level of gzip, where the broker compresses batches anew.",
    "compression.lz4.level": "Level of lz4, where the broker compresses batches anew.",
    "compression.type": "The codec that batches are stored with; producer leaves them as they came.",
    "compression.zstd.level": "Level of zstd, where the broker compresses batches anew.",
    "delete.retention.ms": "How long a tombstone of a compacted topic can still be read, in milliseconds.",
    "errors.deadletterqueue.group.enable": "Whether share groups may write what they give up to this topic.",
    "file.delete.delay.ms": "How long a removed file stays on disk, in milliseconds.",
    "flush.messages": "After how many records a log is synced to disk.",
    "flush.ms": "After how many milliseconds a record is synced to disk.",
    "follower.replication.throttled.replicas": "Followers whose replication is throttled: partition:node pairs, or *.",
    "index.interval.bytes": "How far apart, in bytes, the entries of the offset index are.",
    "internal.segment.bytes": "Size of a segment in bytes below what segment.bytes allows, for tests of Kafka itself.",
    "leader.replication.throttled.replicas": "Leaders whose replication is throttled: partition:node pairs, or *.",
    "local.retention.bytes": "With tiered storage, how many bytes stay on the broker; -2 is retention.bytes.",
    "local.retention.ms": "With tiered storage, how long records stay on the broker; -2 is retention.ms.",
    "max.compaction.lag.ms": "After how many milliseconds at most a record is open to compaction.",
    "max.decompressed.message.bytes": "The largest record, unpacked, in a compressed batch that is taken.",
    "max.message.bytes": "The largest batch, as it came over the wire, that is taken.",
    "message.timestamp.after.max.ms": "How far a record's timestamp may lie ahead of the clock, in milliseconds.",
    "message.timestamp.before.max.ms": "How far a record's timestamp may lie behind the clock, in milliseconds.",
    "message.timestamp.type": "Whose time a record carries: CreateTime is the producer's, LogAppendTime the broker's.",
    "min.cleanable.dirty.ratio": "The share of a log that must be uncompacted before Kafka compacts it.",
    "min.compaction.lag.ms": "How long a record is safe from compaction, in milliseconds.",
    "min.insync.replicas": "How many replicas must be in sync for a produce request with acks=all.",
    "preallocate": "Whether a new segment's file gets its full size at once.",
    "remote.copy.lag.bytes": "With tiered storage, how many bytes wait before they are copied; -1 is all that stay.",
    "remote.copy.lag.ms": "With tiered storage, how long records wait before they are copied; -1 is while they stay.",
    "remote.log.copy.disable": "With tiered storage, whether nothing more is copied there.",
    "remote.log.delete.on.disable": "Whether what is in tiered storage goes when that is turned off for the topic.",
    "remote.storage.enable": "Whether old segments move to tiered storage.",
    "retention.bytes": "How many bytes of a partition are kept; -1 is all of them.",
    "retention.ms": "How long a record is kept after its append, in milliseconds of broker time; -1 is for ever.",
    "segment.bytes": "Size of a segment in bytes.",
    "segment.index.bytes": "Size of a segment's offset index in bytes.",
    "segment.jitter.ms": "By how many milliseconds at most a new segment begins early, at random.",
    "segment.ms": "After how many milliseconds a new segment begins though the old one is not full.",
    "unclean.leader.election.enable": "Whether a replica that lags may become leader, at the price of lost records.",
}

_KINDS: Final = {
    "consumer": "a group of the consumer protocol (KIP-848)",
    "share": "a share group (KIP-932)",
    "streams": "a streams group (KIP-1071)",
}
# per kind of group: the name's end, and the sentence
_BOUNDED: Final = (
    ("session.timeout.ms", "how long a member of {} may be silent, in milliseconds"),
    ("heartbeat.interval.ms", "how often a member of {} is to send a heartbeat, in milliseconds"),
    ("assignment.interval.ms", "how far apart assignments of {} are computed at least, in milliseconds"),
)
_BOUNDED_SHARE: Final = (
    ("delivery.count.limit", "how often a record is delivered to {} before it is given up"),
    ("record.lock.duration.ms", "how long a record is reserved for its reader in {}, in milliseconds"),
    ("partition.max.record.locks", "how many records of a partition are reserved at once in {}"),
)


def _group_texts() -> dict[str, str]:
    texts = {}
    for kind, group in _KINDS.items():
        texts[f"group.{kind}.max.size"] = f"How many members {group} has at most."
        for end, sentence in _BOUNDED + (_BOUNDED_SHARE if kind == "share" else ()):
            text = sentence.format(group)
            texts[f"group.{kind}.{end}"] = f"{text[0].upper()}{text[1:]}, unless the group has its own."
            texts[f"group.{kind}.min.{end}"] = f"The least that a group may choose for {end}."
            texts[f"group.{kind}.max.{end}"] = f"The most that a group may choose for {end}."
    return texts


_COORDINATOR_TEXTS: Final[dict[str, str]] = {
    "group.consumer.assignors": "Assignors that groups of the consumer protocol choose from, the default first.",
    "group.consumer.migration.policy": "Which groups may change over between the classic and the consumer protocol.",
    "group.consumer.regex.refresh.interval.ms": "How often a regular expression over topics is looked up again.",
    "group.coordinator.append.linger.ms": "How long the coordinator gathers records before it writes them; -1 adapts.",
    "group.coordinator.background.threads": "Threads of the coordinator for what takes long.",
    "group.coordinator.cached.buffer.max.bytes": "The largest buffer, in bytes, that the coordinator keeps for reuse.",
    "group.coordinator.rebalance.protocols": "The protocols that groups may use.",
    "group.coordinator.threads": "Threads of the coordinator.",
    "group.initial.rebalance.delay.ms": "How long an empty group waits for more members before its first rebalance.",
    "group.max.session.timeout.ms": "The longest session timeout that a member of a classic group may ask for.",
    "group.max.size": "How many members a classic group has at most.",
    "group.min.session.timeout.ms": "The shortest session timeout that a member of a classic group may ask for.",
    "group.share.assignors": "The assignor of share groups.",
    "group.share.initialize.retry.interval.ms": "How often the start of a share group's state is tried again.",
    "group.share.max.share.sessions": "How many share sessions a broker keeps.",
    "group.share.persister.class.name": "The class that keeps the state of share groups.",
    "errors.deadletterqueue.auto.create.topics.enable": "Whether dead-letter topics of share groups are created.",
    "errors.deadletterqueue.topic.name.prefix": "How the name of a dead-letter topic that is created has to begin.",
    "group.streams.acceptable.recovery.lag": "How many offsets behind a warmed up task of a streams group may be.",
    "group.streams.assignors": "Assignors that streams groups choose from, the default first.",
    "group.streams.num.warmup.replicas": "Tasks of a streams group that warm up at once, unless it has its own number.",
    "group.streams.rack.aware.assignment.tags": "Tags of clients by which a streams group spreads standby tasks.",
    "group.streams.task.offset.interval.ms": "How often a streams member tells how far its tasks are, in milliseconds.",
    "group.streams.topology.description.plugin.class": "The class that keeps descriptions of streams topologies.",
    "group.streams.initial.rebalance.delay.ms": "How long an empty streams group waits for more members.",
    "group.streams.max.standby.replicas": "The most standby replicas that a streams group may choose.",
    "group.streams.num.standby.replicas": "Standby replicas of each task of a streams group, unless it has its own.",
    "offset.metadata.max.bytes": "How long the metadata beside a committed offset may be, in UTF-16 code units.",
    "offsets.commit.timeout.ms": "How long a commit may take to be replicated, in milliseconds.",
    "offsets.load.buffer.size": "How many bytes are read at once where a coordinator loads its groups.",
    "offsets.retention.check.interval.ms": "How often the coordinator looks for expired offsets, in milliseconds.",
    "offsets.retention.minutes": "How long the offsets of an empty group, or of topics without a subscriber, are kept.",
    "offsets.topic.compression.codec": "Number of the codec that __consumer_offsets is written with; 0 is none.",
    "offsets.topic.num.partitions": "How many partitions __consumer_offsets gets when it is created.",
    "offsets.topic.replication.factor": "How many replicas __consumer_offsets gets, at most one on a node.",
    "offsets.topic.segment.bytes": "Size of a segment of __consumer_offsets in bytes.",
}  # fmt: skip

BROKER_TEXTS: Final[dict[str, str]] = _group_texts() | _COORDINATOR_TEXTS
for _topic_name, _sources in TOPIC_SYNONYMS.items():
    for _name, _ in _sources:
        BROKER_TEXTS.setdefault(_name, f"For topics without a {_topic_name} of their own: {TOPIC_TEXTS[_topic_name]}")

GROUP_TEXTS: Final[dict[str, str]] = {
    name: BROKER_TEXTS[broker_name]
    .replace(", unless the group has its own", "")
    .replace(", unless it has its own number", "")
    .replace(", unless it has its own", "")
    for name, broker_name in GROUP_SYNONYMS.items()
    if broker_name in BROKER_TEXTS
} | {
    "errors.deadletterqueue.copy.record.enable": "Whether a dead letter of a share group has the record's content.",
    "errors.deadletterqueue.topic.name": "The topic for what a share group gives up; empty is none.",
    "share.auto.offset.reset": "Where a share group begins: earliest, latest or by_duration:….",
    "share.isolation.level": "Whether a share group reads records of open and aborted transactions.",
    "share.renew.acknowledge.enable": "Whether a member may renew its hold on a record instead of answering for it.",
}

CLIENT_METRICS_TEXTS: Final[dict[str, str]] = {
    "interval.ms": "How often a client pushes its metrics, in milliseconds.",
    "match": "Which clients are meant: patterns for their attributes, all of which must fit.",
    "metrics": "Which metrics are wanted: prefixes of their names, * for all.",
}
