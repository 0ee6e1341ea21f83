"""Why kfake fails what it fails: each cause was looked up in its source, beside the frames of a failing run.

A case may have several causes; the first that names it counts. `make conformance` fails where a failure has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Cause:
    """One way in which kfake departs. `cases` are ids, with `*` for any text."""

    kafka: str
    kfake: str
    where: str
    cases: tuple[str, ...]


CAUSES = (
    # Groups
    Cause(
        "A group that does not exist: UNKNOWN_MEMBER_ID.",
        "GROUP_ID_NOT_FOUND.",
        "12_heartbeat.go, 13_leave_group.go, 14_sync_group.go",
        ("Heartbeat/unknown-group", "SyncGroup/unknown-group", "LeaveGroup/unknown-group", "DeleteGroups/afterwards"),
    ),
    Cause(
        "OffsetFetch of a group that does not exist: offset -1 without an error for what is asked.",
        "GROUP_ID_NOT_FOUND and no topics.",
        "groups.go: handleOffsetFetch",
        (
            "OffsetFetch/unknown-group",
            "OffsetFetch/everything-of-nobody",
            "OffsetFetch/missing-topic",
            "OffsetFetch/many-groups",
            "OffsetFetch/unknown-topic-id",
            "OffsetFetch/empty-group-id",
            "DeleteGroups/simple",
            "TxnOffsetCommit/committed",
        ),
    ),
    Cause(
        'The group id "": INVALID_GROUP_ID.',
        "GROUP_ID_NOT_FOUND: where there is no such group the id is not looked at.",
        "groups.go: handleHijack, before validateGroup",
        (
            "Heartbeat/empty-group-id",
            "SyncGroup/empty-group-id",
            "LeaveGroup/empty-group-id",
            "OffsetDelete/empty-group-id",
        ),
    ),
    Cause(
        "DeleteGroups answers an id that is named twice once.",
        "Twice: NONE, then GROUP_ID_NOT_FOUND.",
        "groups.go: handleDelete",
        ("DeleteGroups/named-twice",),
    ),
    Cause(
        "A member's metadata that is no subscription of its version protects every topic (none parsed) or is read as "
        "version 0 (any version, damaged behind it): the offset stays, GROUP_SUBSCRIBED_TO_TOPIC.",
        "Metadata that kmsg cannot decode is passed over, and the subscribed topic's offset is deleted. Bytes behind a "
        "whole subscription do no harm in this version of kfake.",
        "groups.go: classicSubscribedTopics",
        ("OffsetDelete/later-versions-damaged", "OffsetDelete/versions-of-the-future", "OffsetDelete/unparseable"),
    ),
    Cause(
        "OffsetDelete of a partition that does not exist: UNKNOWN_TOPIC_OR_PARTITION.",
        "NONE.",
        "groups.go: handleOffsetDelete",
        ("OffsetDelete/missing",),
    ),
    Cause(
        "Version 0 of JoinGroup has no rebalance timeout: the session timeout takes its place.",
        "It is -1 then, the rebalance is over at once, and who has not joined again by then is out.",
        "groups.go: maxRebalanceTimeoutMs",
        tuple(
            f"JoinGroup/{name}"
            for name in (
                "other-protocol-type",
                "no-common-protocol",
                "second-member",
                "metadata-of-members",
                "votes",
                "leader-again",
                "follower-again",
                "follower-changed",
                "again-before-sync",
                "held-back",
            )
        ),
    ),
    Cause(
        "A refused JoinGroup names the member that asked.",
        'The member id is "". (In version 0 the cause above comes first.)',
        "groups.go: handleJoin",
        ("JoinGroup/unknown-group", "JoinGroup/unknown-member"),
    ),
    Cause(
        "A static leader that returns below version 9 receives the old leader's id, and no members.",
        "Its own new id, and the members, as from version 9 on (KIP-814).",
        "groups.go: handleJoin",
        ("JoinGroup/static-leader-back-before",),
    ),
    Cause(
        "LeaveGroup answers with the member id that was sent, and a static member's old id is FENCED_INSTANCE_ID.",
        "The instance alone counts: the id is replaced by the present one, in the answer too.",
        "groups.go: handleLeave",
        ("LeaveGroup/by-instance", "LeaveGroup/fenced"),
    ),
    Cause(
        "A member that leaves while its join is parked gets UNKNOWN_MEMBER_ID for the join.",
        "The parked join is never answered.",
        "groups.go: handleLeave, updateMemberAndRebalance",
        ("LeaveGroup/parked-join",),
    ),
    Cause(
        "SyncGroup 5 without protocol type or name: INCONSISTENT_GROUP_PROTOCOL (KIP-559).",
        "NONE: what is null is not compared.",
        "groups.go: handleSync",
        ("SyncGroup/no-protocol",),
    ),
    Cause(
        "A host in DescribeGroups begins with a slash; GROUP_ID_NOT_FOUND comes with a text (version 6).",
        "No slash, no text.",
        "groups.go: handleDescribe",
        ("DescribeGroups/host", "DescribeGroups/unknown-told", "DescribeGroups/many-unknown"),
    ),
    Cause(
        "ListGroups filters states and types whatever the case of their letters.",
        "Only as Kafka itself writes them.",
        "groups.go: handleList",
        ("ListGroups/list-states", "ListGroups/list-types", "ListGroups/consumer-states"),
    ),
    Cause(
        "A client that is no longer a member: UNKNOWN_MEMBER_ID.",
        "In an empty group any generation is ILLEGAL_GENERATION.",
        "groups.go: handleOffsetCommit",
        ("OffsetCommit/member-that-left",),
    ),
    Cause(
        "A generation in a group that does not exist, OffsetCommit 9 and later: GROUP_ID_NOT_FOUND.",
        "ILLEGAL_GENERATION in every version.",
        "groups.go: handleOffsetCommit",
        ("OffsetCommit/unknown-group-since",),
    ),
    Cause(
        "Missing partitions and topic ids are found before the coordinator sees the request, and come first.",
        "They come last; where there are no others the coordinator is asked all the same.",
        "08_offset_commit.go, groups.go: dispatchOffsetCommit",
        (
            "OffsetCommit/missing-partitions",
            "OffsetCommit/negative-partition",
            "OffsetCommit/only-missing-partitions",
            "OffsetCommit/unknown-topic-id",
        ),
    ),
    Cause(
        "offset.metadata.max.bytes: OFFSET_METADATA_TOO_LARGE.",
        "No limit.",
        "groups.go: fillOffsetCommitWithACL; txns.go: doTxnOffsetCommit",
        (
            "OffsetCommit/metadata-at-its-limit",
            "OffsetCommit/metadata-beyond-ascii",
            "TxnOffsetCommit/metadata-too-large",
        ),
    ),
    Cause(
        'An offset that is not there, and one committed with null metadata, has the metadata "".',
        "Null.",
        "groups.go: handleOffsetFetch",
        ("OffsetCommit/null-metadata", "OffsetFetch/order", "OffsetFetch/no-leader-epoch", "OffsetFetch/deleted-topic"),
    ),
    Cause(
        'FindCoordinator 1 to 3 has the text "NONE" where there is no error; with an error node and port are -1.',
        "Null; node and port are 0.",
        "10_find_coordinator.go",
        ("FindCoordinator/*",),
    ),
    # Consumer groups (KIP-848)
    Cause(
        "A group begins with epoch 1, and its first subscription makes it 2: the first member is let in with that.",
        "Both are one step: the first member's epoch is 1.",
        "groups.go: consumerJoin",
        (
            "ConsumerGroupHeartbeat/first-member",
            "ConsumerGroupHeartbeat/fenced",
            "ConsumerGroupHeartbeat/all-left",
            "ConsumerGroupHeartbeat/emptied",
            "ConsumerGroupDescribe/stable",
        ),
    ),
    Cause(
        "A member id is a uuid; from version 1 on the member brings it, or INVALID_REQUEST (KIP-1082).",
        "Client id or instance id and a uuid, and one is made up in every version.",
        "groups.go: consumerJoin, generateMemberID",
        ("ConsumerGroupHeartbeat/member-id-made-up", "ConsumerGroupHeartbeat/member-id-missing"),
    ),
    Cause(
        "A missing field in a first heartbeat, an empty text or an impossible epoch: INVALID_REQUEST, and no "
        "group is created.",
        "Of all that only topic_partitions and the group id (INVALID_GROUP_ID) are looked at. Epoch -2 without an "
        "instance id is taken for -1, and one below it for an epoch.",
        "groups.go: consumerJoin, consumerStaticLeave, handleConsumerHeartbeat",
        ("ConsumerGroupHeartbeat/incomplete-first", "ConsumerGroupHeartbeat/odd-epochs"),
    ),
    Cause(
        "A heartbeat of a member in a group that does not exist: GROUP_ID_NOT_FOUND.",
        "Any heartbeat makes the group: UNKNOWN_MEMBER_ID.",
        "groups.go: handleConsumerGroupHeartbeat",
        ("ConsumerGroupHeartbeat/unknown",),
    ),
    Cause(
        "A subscription in any heartbeat counts.",
        "Only in a heartbeat that also has the rebalance timeout and the owned partitions.",
        "groups.go: isFullRequest, consumerRegularHeartbeat",
        ("ConsumerGroupHeartbeat/subscribed-anew", "ConsumerGroupHeartbeat/names-and-expression"),
    ),
    Cause(
        "A join with an instance id that is in use: UNRELEASED_INSTANCE_ID, also with the holder's own member id.",
        "Not with that member id: the member joins again.",
        "groups.go: consumerJoin",
        ("ConsumerGroupHeartbeat/unreleased",),
    ),
    Cause(
        "A leave with another member's instance id: FENCED_INSTANCE_ID.",
        "UNKNOWN_MEMBER_ID: leaving looks at the member id alone.",
        "groups.go: consumerLeave, consumerStaticLeave",
        ("ConsumerGroupHeartbeat/wrong-instance",),
    ),
    Cause(
        "An invalid regular expression: INVALID_REGULAR_EXPRESSION, with a text.",
        "INVALID_REQUEST, without.",
        "groups.go: consumerJoin, updateMemberSubscriptions",
        ("ConsumerGroupHeartbeat/broken-expression",),
    ),
    Cause(
        "A member has a partition that it must release until it reports that it did.",
        "It is described without the partition as soon as it must release it.",
        "groups.go: handleConsumerGroupDescribe, computeNextAssignment",
        ("ConsumerGroupDescribe/reconciling",),
    ),
    Cause(
        "A group whose target is yet to be computed is Assigning.",
        "There is no such state: the target is computed at once.",
        "groups.go: computeTargetAssignment, updateConsumerStateField",
        ("ConsumerGroupDescribe/states",),
    ),
    # Share groups (KIP-932)
    Cause(
        "From version 1 on the records of a ShareFetch cannot be null: where there are none they are empty.",
        "Null, which no decoder of that version takes: a session that acquires nothing cannot be begun.",
        "78_share_fetch.go: donep",
        (
            "ShareFetch/*",
            "ShareAcknowledge/*",
            "DescribeShareGroupOffsets/*",
            "AlterShareGroupOffsets/altered-*",
            "DeleteShareGroupOffsets/*",
            "DeleteGroups/share-group",
        ),
    ),
    Cause(
        "A ShareFetch of -1 records acquires nothing.",
        "500 of them, as where nothing is said.",
        "78_share_fetch.go: defShareMaxRecords",
        ("AlterShareGroupOffsets/altered",),
    ),
    Cause(
        "A share group begins with epoch 1, and its first subscription makes it 2.",
        "Both are one step: the first member's epoch is 1, and the one before it that of who joins.",
        "share_groups.go: handleJoin",
        ("ShareGroupHeartbeat/first-member", "ShareGroupHeartbeat/fenced"),
    ),
    Cause(
        "Partitions are given out once their state is initialised, behind the first answer.",
        "By the first answer.",
        "share_groups.go: handleJoin, recomputeAssignments",
        ("ShareGroupHeartbeat/initialised-first",),
    ),
    Cause(
        "A share group that all have left is there, and Empty.",
        "It is gone with the last of them.",
        "share_groups.go: maybeQuit",
        ("ShareGroupDescribe/emptied",),
    ),
    Cause(
        "ShareGroupDescribe returns a text for a group that does not exist.",
        "Without.",
        "77_share_group_describe.go",
        ("ShareGroupDescribe/missing",),
    ),
    Cause(
        "JoinGroup into a share group: INCONSISTENT_GROUP_PROTOCOL.",
        "GROUP_ID_NOT_FOUND.",
        "groups.go: handleJoin",
        ("JoinGroup/share-group",),
    ),
    Cause(
        "A commit with an older epoch that names a partition the member does not have any more: STALE_MEMBER_EPOCH, "
        "for all of it (KIP-1251).",
        "Such a partition is not looked at, and is committed; each partition is judged for itself.",
        "groups.go: handleConsumerOffsetCommit",
        ("OffsetCommit/older-epoch",),
    ),
    Cause(
        "A missing member epoch (-1) is a wrong one.",
        "-1 is passed over.",
        "groups.go: validateMemberGeneration",
        ("TxnOffsetCommit/with-epoch-in-transaction",),
    ),
    Cause(
        "To DescribeGroups a consumer group is none: Dead, from version 6 on GROUP_ID_NOT_FOUND.",
        "It is described as a classic group without members.",
        "groups.go: handleDescribe",
        ("DescribeGroups/consumer-group-is-dead", "DescribeGroups/consumer-group-is-not-found"),
    ),
    Cause(
        "LeaveGroup removes members of consumer groups as well.",
        "UNKNOWN_MEMBER_ID: it knows classic members only.",
        "groups.go: handleLeave",
        ("LeaveGroup/of-consumer-group-left",),
    ),
    Cause(
        "A consumer group has the protocol type consumer: so it is listed, and its members' topics are protected.",
        'It is "": so it is listed, and OffsetDelete is NON_EMPTY_GROUP while there are members.',
        "groups.go: handleList, handleOffsetDelete",
        ("ListGroups/consumer-type", "OffsetDelete/of-consumer-group"),
    ),
    # Records
    Cause(
        "Nothing was written: base offset -1 with every error.",
        "Base offset 0. The error code is the same.",
        "00_produce.go: donep",
        tuple(
            f"Produce/{name}"
            for name in (
                "wrong-acks",
                "unknown-topic",
                "unknown-topic-id",
                "wrong-crc",
                "control-batch",
                "too-large",
                "sequence-gap",
                "old-epoch",
                "new-epoch",
            )
        ),
    ),
    Cause(
        "A batch that is not as it should be: INVALID_RECORD.",
        "CORRUPT_MESSAGE.",
        "00_produce.go",
        ("Produce/two-batches", "Produce/no-batch", "Produce/base-offset", "Produce/wrong-count"),
    ),
    Cause("A compacted topic takes no record without a key.", "It does.", "00_produce.go", ("Produce/keyless",)),
    Cause(
        "max.decompressed.message.bytes bounds what records unpack to (4.4).",
        "Nothing does: there is no such setting.",
        "00_produce.go, data.go",
        ("Produce/too-large-unpacked",),
    ),
    Cause(
        "message.timestamp.type=LogAppendTime: the broker's time is in the answer.",
        "-1: only what the client's batch says counts, not the topic's setting.",
        "00_produce.go",
        ("Produce/log-append-time",),
    ),
    Cause(
        "acks=0 that fails ends the connection.",
        "It goes on, and the client never learns of it.",
        "00_produce.go",
        ("Produce/no-acks-failing", "Produce/guarantee-refused-without-acks"),
    ),
    Cause(
        "Watermarks are -1 with an error.",
        "Those of the partition, or 0.",
        "01_fetch.go: donep",
        ("Fetch/out-of-range", "Fetch/unknown-topic"),
    ),
    Cause(
        "partition_max_bytes cuts the records within a batch.",
        "Whole batches only.",
        "01_fetch.go",
        ("Fetch/partition-limit",),
    ),
    Cause(
        "A fetch of no partition is answered at once.",
        "It waits for max_wait_ms.",
        "01_fetch.go",
        ("Fetch/nothing",),
    ),
    Cause(
        "A low watermark of -1 with an error of DeleteRecords.",
        "0.",
        "21_delete_records.go",
        tuple(f"DeleteRecords/records-{name}" for name in ("out-of-range", "missing", "missing-topic", "neighbours")),
    ),
    Cause(
        "An offset below the log's start moves nothing: NONE, and the start as it is.",
        "OFFSET_OUT_OF_RANGE.",
        "21_delete_records.go",
        ("DeleteRecords/records-deleted",),
    ),
    Cause(
        "A compacted topic: POLICY_VIOLATION; an internal one: INVALID_TOPIC_EXCEPTION.",
        "Records are deleted; there is no internal topic.",
        "21_delete_records.go",
        ("DeleteRecords/records-compacted", "DeleteRecords/records-internal"),
    ),
    Cause(
        "An unknown leader epoch has the end offset -1.",
        "0.",
        "23_offset_for_leader_epoch.go",
        ("OffsetForLeaderEpoch/epoch-unknown",),
    ),
    Cause(
        "An error of InitProducerId comes with the epoch -1.",
        "0.",
        "txns.go: doInitProducerID",
        ("InitProducerId/empty-transactional-id", "InitProducerId/empty-id", "InitProducerId/bad-timeouts"),
    ),
    Cause(
        "A producer id without its epoch is refused; the same id and epoch again are answered alike; an old epoch is "
        "fenced (KIP-360).",
        "One without the other is not looked at; an old epoch is taken, too, and the epoch rises each time.",
        "txns.go: doInitProducerID",
        (
            "InitProducerId/half-known",
            "InitProducerId/half-an-identity",
            "InitProducerId/bumped",
            "InitProducerId/fenced-producer",
        ),
    ),
    Cause(
        "DescribeProducers returns every idempotent producer.",
        "Only those in a transaction.",
        "txns.go: txnProducers",
        ("DescribeProducers/producers", "DescribeProducers/several-producers"),
    ),
    # Transactions
    Cause(
        "An open transaction is aborted behind the answer: CONCURRENT_TRANSACTIONS, then an epoch that is two higher.",
        "It is aborted before the answer, which is NONE with the next epoch: nothing is ever under way.",
        "txns.go: create, doInitProducerID",
        ("InitProducerId/over-an-open-transaction",),
    ),
    Cause(
        "AddPartitionsToTxn 4 and 5 name several transactions, and may ask only whether partitions are in them.",
        "The topics of versions 0 to 3 alone are read, and there are none: the answer is empty.",
        "24_add_partitions_to_txn.go, txns.go: doAddPartitions",
        (
            "AddPartitionsToTxn/adding",
            "AddPartitionsToTxn/adding-unknown",
            "AddPartitionsToTxn/adding-of-several",
            "AddPartitionsToTxn/adding-one-by-one",
            "AddPartitionsToTxn/verifying",
        ),
    ),
    Cause(
        "A stale epoch is PRODUCER_FENCED from EndTxn, AddPartitionsToTxn and AddOffsetsToTxn 2 on, and "
        "INVALID_PRODUCER_EPOCH before them and in every TxnOffsetCommit (KIP-588).",
        "PRODUCER_FENCED in every version. (AddPartitionsToTxn 4 and 5 have the cause above.)",
        "txns.go: doAddPartitions, doAddOffsets, doTxnOffsetCommit, doEnd",
        (
            "AddPartitionsToTxn/adding-stale",
            "AddOffsetsToTxn/adding-offsets-stale",
            "TxnOffsetCommit/zombie",
            "EndTxn/ending-stale",
            "EndTxn/guarantee-fenced-producer-commits",
        ),
    ),
    Cause(
        'The producer id is that of the transactional id, or INVALID_PRODUCER_ID_MAPPING; the transactional id "" is '
        "INVALID_REQUEST.",
        "The transactional id is only used to find the coordinator: the producer id alone identifies the producer.",
        "txns.go: doAddPartitions, doAddOffsets, doEnd",
        (
            "AddPartitionsToTxn/adding-of-another",
            "AddPartitionsToTxn/adding-of-nobody",
            "AddOffsetsToTxn/adding-offsets-of-another",
            "AddOffsetsToTxn/adding-offsets-of-nobody",
            "EndTxn/ending-of-another",
            "EndTxn/ending-of-nobody",
        ),
    ),
    Cause(
        "Records of a transaction come with its transactional id (TRANSACTIONAL_ID_AUTHORIZATION_FAILED without one), "
        "which is that of their producer id.",
        "The transactional id of the request is not looked at.",
        "00_produce.go",
        ("Produce/without-a-name", "Produce/of-another"),
    ),
    Cause(
        "A partition that is not in the transaction: TRANSACTION_ABORTABLE in Produce 11 and TxnOffsetCommit 4 "
        "(KIP-890).",
        "INVALID_TXN_STATE there too.",
        "00_produce.go, txns.go: doTxnOffsetCommit",
        ("Produce/not-added", "TxnOffsetCommit/not-added"),
    ),
    Cause(
        "A zombie is known by its epoch, also where nothing is in the transaction any more.",
        "Whether the partition is in the transaction is asked first: INVALID_TXN_STATE.",
        "00_produce.go, txns.go: get",
        ("Produce/zombie", "Produce/guarantee-fenced-producer-writes"),
    ),
    Cause(
        "DescribeTransactions and ListTransactions return a finished transaction: CompleteCommit, CompleteAbort.",
        "It keeps only whether a transaction is open, and returns Ongoing or Empty.",
        "txns.go: pidinfo, doDescribeTransactions",
        ("EndTxn/ending", "EndTxn/ending-otherwise"),
    ),
    Cause(
        "EndTxn 0 to 4 with nothing to end: INVALID_TXN_STATE.",
        "An abort is NONE, as if it were asked for again: whether a transaction was before is not kept.",
        "txns.go: doEnd",
        ("EndTxn/ending-nothing",),
    ),
    Cause(
        "The group's partition of __consumer_offsets is in the transaction, for all to see.",
        "Groups are kept separately, and are not returned.",
        "txns.go: doAddOffsets, doTxnOffsetCommit, doDescribeTransactions",
        ("AddOffsetsToTxn/adding-offsets", "TxnOffsetCommit/joined"),
    ),
    Cause(
        "A pending offset belongs to its group: deleted with it, or by OffsetDelete, it does not come back; an "
        "offset that another client commits in the meantime stays.",
        "It belongs to the producer, and is committed with the transaction whatever has happened to the group.",
        "txns.go: doTxnOffsetCommit, endTx",
        (
            "OffsetCommit/beside-a-pending-one",
            "DeleteGroups/with-pending-offsets",
            "OffsetDelete/delete-pending",
            "OffsetDelete/delete-only-pending",
        ),
    ),
    Cause(
        "A group that has pending offsets only is a group.",
        "There is none before the commit: GROUP_ID_NOT_FOUND.",
        "groups.go: handleDelete, txns.go: endTx",
        ("DeleteGroups/with-only-pending-offsets",),
    ),
    Cause(
        "UNSTABLE_OFFSET_COMMIT for the partitions of which an offset is pending.",
        "For every partition of the group.",
        "txns.go: hasUnstableOffsets, groups.go: fillOffsetFetch",
        ("OffsetFetch/unstable",),
    ),
    Cause(
        "The last stable offset is never below the log's start.",
        "DeleteRecords leaves it where the transaction began.",
        "21_delete_records.go: deleteRecords, data.go: recalculateLSO",
        ("DeleteRecords/under-an-open-transaction",),
    ),
    Cause(
        "WriteTxnMarkers looks at the epochs of producer and coordinator, and ends the transaction in that partition.",
        "No epoch is looked at; what DescribeProducers tells is kept elsewhere, and stays.",
        "27_write_txn_markers.go: writeTxnMarker, txns.go: txnProducers",
        (
            "WriteTxnMarkers/ending-by-hand",
            "WriteTxnMarkers/marking-stale",
            "WriteTxnMarkers/marking-by-an-old-coordinator",
            "WriteTxnMarkers/marking-with-the-same-epoch",
        ),
    ),
    Cause(
        "The coordinator's epoch in DescribeProducers is that of the last marker, -1 before the first.",
        "Always 0.",
        "txns.go: txnProducers",
        ("DescribeProducers/transaction-start",),
    ),
    Cause(
        'DescribeTransactions of "": INVALID_REQUEST.',
        "TRANSACTIONAL_ID_NOT_FOUND.",
        "txns.go: doDescribeTransactions",
        ("DescribeTransactions/nobody",),
    ),
    Cause(
        "ListTransactions names the states that there are not, and its pattern fits whole ids.",
        "It does not; any part of an id will do.",
        "txns.go: doListTransactions",
        ("ListTransactions/unknown-state", "ListTransactions/by-pattern"),
    ),
    # Topics and configuration
    Cause(
        "A topic name that cannot be: INVALID_TOPIC_EXCEPTION.",
        "Names are not looked at: such topics are made, described and configured.",
        "19_create_topics.go, 03_metadata.go, 32_describe_configs.go",
        (
            "CreateTopics/bad-names",
            "Metadata/invalid-names",
            "DescribeConfigs/describe-missing",
            "DescribeProducers/producers-bad-name",
            "DescribeTopicPartitions/partitions-bad-name",
        ),
    ),
    Cause(
        "An empty list of topics in Metadata 0 means all of them.",
        "None of them.",
        "03_metadata.go",
        ("Metadata/all-topics-of-old",),
    ),
    Cause(
        "__consumer_offsets is a topic, and flagged as internal.",
        "It does not exist.",
        "03_metadata.go",
        ("Metadata/internal",),
    ),
    Cause(
        "Impossible counts, factors and assignments are refused.",
        "-2 is the default, a factor of 0 and brokers that there are not are taken, a count may stay as it is.",
        "19_create_topics.go, 37_create_partitions.go",
        (
            "CreateTopics/bad-counts",
            "CreateTopics/bad-factors",
            "CreateTopics/bad-assignments",
            "CreatePartitions/not-grown",
            "CreatePartitions/grow-assigned",
        ),
    ),
    Cause(
        "A request makes 10,000 new partitions at most: POLICY_VIOLATION at every topic (4.4).",
        "Any number.",
        "37_create_partitions.go",
        ("CreatePartitions/too-many-at-once",),
    ),
    Cause(
        "Settings are checked: names, values, what is a list, what is dynamic.",
        "A topic's are kept as they come; of a broker's only whether a number is one is looked at.",
        "data.go: setTopicConfig, validateBrokerConfig",
        (
            "CreateTopics/bad-settings",
            "AlterConfigs/alter-badly",
            "AlterConfigs/alter-not-dynamic",
            "AlterConfigs/alter-neighbours",
            "IncrementalAlterConfigs/incremental-neighbours",
            "IncrementalAlterConfigs/bad-values",
            "IncrementalAlterConfigs/bad-rows",
            "IncrementalAlterConfigs/not-dynamic",
        ),
    ),
    Cause(
        "APPEND begins with the setting's default where nothing was set.",
        "With nothing.",
        "44_incremental_alter_configs.go",
        ("IncrementalAlterConfigs/append-and-subtract",),
    ),
    Cause(
        "Settings have their source, and all of their synonyms if requested.",
        "The source is missing in CreateTopics; the default is always returned as a synonym and the topic's own never.",
        "19_create_topics.go, 32_describe_configs.go",
        ("CreateTopics/settings", "DescribeConfigs/topic-settings", "DescribeConfigs/synonyms"),
    ),
    Cause(
        "Settings come with their documentation where asked for.",
        "Without.",
        "32_describe_configs.go",
        ("DescribeConfigs/documented",),
    ),
    Cause(
        "A name given twice in CreateTopics is answered once, and its neighbours are made.",
        "Every topic of the request is refused.",
        "19_create_topics.go",
        ("CreateTopics/doubled",),
    ),
    Cause(
        "A topic given twice in DeleteTopics stays; neither name nor id is INVALID_REQUEST; an unknown id has no name.",
        "It is deleted; UNKNOWN_TOPIC_ID; the name is empty.",
        "20_delete_topics.go",
        ("DeleteTopics/delete-doubled", "DeleteTopics/delete-ambiguous", "DeleteTopics/delete-by-id"),
    ),
    Cause(
        "No time to do it in: REQUEST_TIMED_OUT, and nothing is done.",
        "The timeout is not looked at.",
        "19, 20, 37, 43 and 45",
        (
            "CreateTopics/no-time",
            "DeleteTopics/delete-no-time",
            "CreatePartitions/grow-no-time",
            "ElectLeaders/elect-no-time",
            "AlterPartitionReassignments/reassign-no-time",
        ),
    ),
    Cause(
        "Errors come with a text.",
        "The code is the same; there is no text.",
        "19, 36, 43, 45, 50 and 51",
        (
            "CreateTopics/exists-already",
            "ElectLeaders/elect-missing",
            "AlterPartitionReassignments/reassign-missing",
            "DescribeUserScramCredentials/describe-missing",
            "AlterUserScramCredentials/*",
            "SaslAuthenticate/no-authentication",
            "IncrementalAlterConfigs/incremental-unknown-type",
        ),
    ),
    # The cluster
    Cause(
        "A partition that its first replica leads needs no election; other election types than 0 and 1 do not exist.",
        "Every election moves the leader on to the next broker, whatever the type.",
        "43_elect_leaders.go: elect",
        ("ElectLeaders/*",),
    ),
    Cause(
        "Replicas that cannot be are refused.",
        "Any are taken.",
        "45_alter_partition_assignments.go",
        ("AlterPartitionReassignments/reassigned-badly", "AlterPartitionReassignments/reassign-in-order"),
    ),
    Cause(
        "DescribeLogDirs without topics returns the directories.",
        "Nothing: a directory is returned only if it has a log.",
        "35_describe_log_dirs.go",
        ("DescribeLogDirs/no-logs", "AlterReplicaLogDirs/too-long"),
    ),
    Cause(
        "A replica goes into a directory of log.dirs and no other: LOG_DIR_NOT_FOUND.",
        "Into any that is named; only whether there is such a partition is looked at.",
        "34_alter_replica_log_dirs.go",
        ("AlterReplicaLogDirs/no-such-directory", "AlterReplicaLogDirs/as-it-is-written"),
    ),
    Cause(
        "A partition that is named twice is answered once.",
        "As often as it was named.",
        "34_alter_replica_log_dirs.go",
        ("AlterReplicaLogDirs/named-twice",),
    ),
    Cause(
        "An impossible feature level: INVALID_UPDATE_VERSION at the top level, and nothing is done.",
        "FEATURE_UPDATE_FAILED, below version 2 at the one feature alone; a level below 0 takes it off, and of upgrade "
        "types any will do.",
        "57_update_features.go",
        ("UpdateFeatures/refused",),
    ),
    Cause(
        "A broker is no endpoint of a controller: MISMATCHED_ENDPOINT_TYPE; other types do not exist.",
        "The endpoint type is not looked at.",
        "60_describe_cluster.go",
        ("DescribeCluster/endpoint-types",),
    ),
    Cause(
        "A group is listed while it has a configuration.",
        "For ever, once it had one.",
        "74_list_config_resources.go",
        ("ListConfigResources/configured-group",),
    ),
    Cause(
        "A cursor that makes no sense: INVALID_REQUEST for every topic.",
        "The connection is closed.",
        "75_describe_topic_partitions.go",
        ("DescribeTopicPartitions/bad-cursor", "DescribeTopicPartitions/stray-cursor"),
    ),
    Cause(
        "Without an authorizer ACLs are SECURITY_DISABLED; UNKNOWN (0) in a filter or an entry ends the connection.",
        "Entries are kept whether or not they are looked at; 0 is taken.",
        "29_describe_acls.go, 30_create_acls.go, 31_delete_acls.go",
        ("DescribeAcls/*", "CreateAcls/*", "DeleteAcls/*"),
    ),
    Cause(
        "On a listener without SASL: ILLEGAL_SASL_STATE, and the connection goes on.",
        "SaslHandshake 1 is answered with NONE, and SaslAuthenticate after it ends the connection.",
        "17_sasl_handshake.go, 36_sasl_authenticate.go",
        ("SaslHandshake/*", "SaslAuthenticate/*"),
    ),
    Cause(
        "An empty list of users is all users, as null is.",
        "None.",
        "50_describe_user_scram_credentials.go",
        ("DescribeUserScramCredentials/all-users",),
    ),
    Cause(
        "Subscriptions to client metrics have an effect, intervals and limits are kept, what is pushed is looked at.",
        "There are no subscriptions; only the subscription id is checked. It returns other codecs.",
        "71_get_telemetry_subscriptions.go, 72_push_telemetry.go",
        ("GetTelemetrySubscriptions/*", "PushTelemetry/*"),
    ),
    Cause(
        "Quotas are looked at: names, values, entities, filters. What is not found is no entries.",
        "Anything is kept, any filter is taken. What is not found is null, and the text is null, not empty.",
        "48_describe_client_quotas.go, 49_alter_client_quotas.go",
        ("DescribeClientQuotas/*", "AlterClientQuotas/*"),
    ),
    # Connections
    Cause(
        "Every version of 4.4 of an API that is listed.",
        "ListOffsets 11, SaslHandshake 0 and OffsetForLeaderEpoch 2 are missing.",
        "02_list_offsets.go, 17_sasl_handshake.go, 23_offset_for_leader_epoch.go",
        ("ApiVersions/complete",),
    ),
    Cause(
        "An API or a version that does not exist ends that connection.",
        "The whole process dies of a nil pointer: kmsg.RequestForKey has no such request, and its nil is used.",
        "client_conn.go: read",
        ("ApiVersions/unknown-api", "ApiVersions/unknown-version"),
    ),
    Cause(
        "ApiVersions at a version that does not exist is answered in version 0, with its own range.",
        "Below 0 the connection is closed.",
        "client_conn.go, 18_api_versions.go",
        ("ApiVersions/version-of-the-future",),
    ),
    Cause(
        "A size below 0 or beyond socket.request.max.bytes ends the connection.",
        "It is taken for an unsigned number, and that much memory is made ready.",
        "client_conn.go: read",
        ("ApiVersions/bad-sizes",),
    ),
)
"""In the order in which they are told."""


def cause_of(case_id: str) -> Cause | None:
    """The first cause that names a case."""
    found = (cause for cause in CAUSES if any(fnmatchcase(case_id, name) for name in cause.cases))
    return next(found, None)


def unexplained(case_ids: Iterable[str]) -> list[str]:
    """The cases that no cause names."""
    return [name for name in dict.fromkeys(case_ids) if cause_of(name) is None]
