"""What the five specifications demand, and what shows that it is done: the source of docs/kips.md.

A row is (section, statement in our words, shown by, remark). `shown by` names behaviours of the handlers' checklists
and test functions; a row without any says in its remark why it is no broker's business, or who decided otherwise.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    section: str
    statement: str
    shown_by: tuple[str, ...] = ()
    remark: str = ""


KAFKA_DECIDED = "Released Kafka decided otherwise: "
CLIENT = "A client's business: "

TABLES: dict[str, tuple[Row, ...]] = {
    "KIP-211: expiry of committed offsets": (
        Row(
            "Public interfaces",
            "A version of OffsetCommit without `retention_time`; the broker's configuration counts.",
            ("OC-13",),
            KAFKA_DECIDED + "the KIP's new version is 5; version 4 still has the field (KIP-289's layout).",
        ),
        Row("Public interfaces", "The answer keeps its layout.", ("OC-1", "OC-8")),
        Row(
            "Proposed changes",
            "An offset value schema without the expiry timestamp, in addition to the one that has it.",
            ("test_a_value_keeps_what_its_version_has",),
        ),
        Row(
            "Proposed changes",
            "A group metadata schema with the time of the last change of state.",
            ("test_a_generation_keeps_what_its_version_has",),
        ),
        Row(
            "Transitioning to Empty",
            "The age of an empty group's offsets counts from when it became empty, and at the retention (`>=`) all go.",
            ("test_an_empty_groups_offsets_expire_all_at_once_counted_from_when_it_became_empty",),
        ),
        Row(
            "Transitioning to Empty",
            "The group is Dead with its last offset.",
            ("test_a_simple_groups_offsets_expire_each_at_its_own_age_and_the_group_with_the_last",),
        ),
        Row(
            "Transitioning to Empty",
            "A group that gets members again is no longer empty: nothing expires.",
            ("test_nothing_expires_during_a_rebalance",),
        ),
        Row(
            "Transitioning to Empty",
            "In Stable, PreparingRebalance and CompletingRebalance offsets of what is consumed do not expire.",
            (
                "test_a_live_group_keeps_its_offsets_and_a_closed_one_loses_them_at_seven_days_sharp",
                "test_nothing_expires_during_a_rebalance",
            ),
        ),
        Row(
            "Transitioning to Empty",
            "Dead: nothing is left to expire.",
            ("test_every_group_that_is_removed_is_dead",),
        ),
        Row(
            "Transitioning to Empty",
            "The default is `offsets.retention.minutes`.",
            ("test_a_shorter_retention_of_a_running_broker_holds_at_the_next_sweep",),
        ),
        Row(
            "Unsubscribing",
            "Offsets of topics that a live group no longer subscribes to expire by the age of their commit.",
            ("test_a_stable_consumer_group_loses_only_what_nobody_subscribes",),
            KAFKA_DECIDED + "in Stable only; the KIP's table says in every state that is not Empty.",
        ),
        Row(
            "Unsubscribing",
            "It is looked at in the regular sweep.",
            ("test_a_sweep_looks_only_at_groups_in_which_something_may_be_due",),
        ),
        Row(
            "Standalone consumer",
            "Without a protocol type each offset expires by the age of its own commit.",
            ("test_a_simple_groups_offsets_expire_each_at_its_own_age_and_the_group_with_the_last",),
        ),
        Row(
            "Another related change",
            "Deleting a topic takes its offsets along.",
            ("test_a_deleted_topics_offsets_go_with_it_in_live_groups_too",),
        ),
        Row(
            "Compatibility",
            "A commit of an old version with a retention of its own expires when that is over.",
            ("OC-13", "test_a_commits_own_retention_in_a_simple_group"),
        ),
        Row(
            "Compatibility",
            "... regardless of the group's state.",
            ("test_a_commits_own_retention_in_a_stable_group_that_subscribes",),
            "Profile kips. " + KAFKA_DECIDED + "only where the group's offsets are considered at all (profile kafka).",
        ),
        Row(
            "Compatibility",
            "A retention of -1 in an old version means the broker's.",
            ("OC-13",),
        ),
        Row("Rejected alternatives", "(no statement that binds a broker)", (), "Nothing to do."),
    ),
    "KIP-229: DeleteGroups": (
        Row("Proposed changes", "A request names groups; each is answered with its own code.", ("GD-1", "GD-2")),
        Row("Proposed changes", "NON_EMPTY_GROUP for a group that has members.", ("GD-2",)),
        Row("Proposed changes", "GROUP_ID_NOT_FOUND for a group that does not exist.", ("GD-2",)),
        Row(
            "Proposed changes",
            "INVALID_GROUP_ID.",
            ("GD-4",),
            KAFKA_DECIDED + "the empty id is a group like others here, so no id is invalid.",
        ),
        Row(
            "Proposed changes",
            "COORDINATOR_NOT_AVAILABLE.",
            ("test_a_group_whose_only_node_has_stopped_has_no_coordinator",),
            "FindCoordinator says it of a group whose node has stopped.",
        ),
        Row(
            "Proposed changes",
            "GROUP_AUTHORIZATION_FAILED, and the operation Delete on groups; All implies it, Read does not.",
            ("test_the_table",),
            "",
        ),
        Row(
            "Proposed changes",
            "`--delete` in the group command.",
            ("test_kafkas_tools_print_what_they_print_for_apache_kafka",),
            "Kafka's own tool.",
        ),
        Row("Compatibility", "Old APIs stay as they are.", ("AV-1",)),
    ),
    "KIP-289: the empty group id": (
        Row(
            "Proposed changes",
            "The consumer's default group id is null.",
            (),
            CLIENT + "a configuration of the consumer.",
        ),
        Row(
            "Proposed changes",
            'subscribe() with the group id "" fails with an invalid group id.',
            ("JG-17", "SG-9", "HB-6", "LG-9"),
        ),
        Row(
            "Proposed changes",
            "Consumers without a group cannot fetch or commit offsets.",
            (),
            CLIENT + "without a group id no such request is sent.",
        ),
        Row(
            "Proposed changes",
            'assign() with "" can fetch offsets that were committed by older clients.',
            ("OF-9",),
            "The second draft's table says the consumer itself no longer asks; a broker that is asked answers.",
        ),
        Row(
            "OffsetCommit",
            'From version 4 on, committing for "" answers ILLEGAL_OFFSET_COMMIT.',
            ("OC-11",),
            "Profile kips. " + KAFKA_DECIDED + "it accepts the commit (profile kafka).",
        ),
        Row("OffsetCommit", 'Older versions commit for "" as before.', ("OC-12",)),
        Row(
            "OffsetCommit",
            "The code is 73 (72 in the first draft).",
            ("OC-11",),
            "Configurable: released Kafka gave 73 to TOPIC_DELETION_DISABLED.",
        ),
        Row("Compatibility", "A warning in the broker's log reports the deprecation.", ("OC-12",)),
        Row(
            "Compatibility",
            'Support for "" ends with the next major release.',
            (),
            KAFKA_DECIDED + "4.x still has it.",
        ),
    ),
    "KIP-496: OffsetDelete": (
        Row("Public interfaces", "The request and its answer, version 0.", ("OD-1",)),
        Row("Public interfaces", "GROUP_SUBSCRIBED_TO_TOPIC (86) at the partitions of a subscribed topic.", ("OD-2",)),
        Row("Public interfaces", "A code at the top for the whole group.", ("OD-4", "OD-5")),
        Row(
            "Admin client",
            "`deleteConsumerGroupOffsets`.",
            ("test_offsets_of_a_topic_are_deleted_once_nobody_subscribes_it",),
            "Kafka's own client, against the stub.",
        ),
        Row(
            "Consumer group command",
            "`--delete-offsets` and its table.",
            ("test_kafkas_tools_print_what_they_print_for_apache_kafka",),
            "Kafka's tool.",
        ),
        Row("Metrics", "offset-commits, for every committed offset.", ("test_meters_count_offsets",)),
        Row("Metrics", "offset-expirations, for every expired offset.", ("test_expired_offsets_are_counted",)),
        Row(
            "Metrics",
            "offset-deletions, for every administrative deletion.",
            ("OD-7", "GD-6"),
            "Profile kips. " + KAFKA_DECIDED + "OffsetDelete alone counts (profile kafka).",
        ),
        Row("Metrics", "group-completed-rebalances.", ("test_meters_count_offsets",)),
        Row(
            "Proposed changes",
            "Subscriptions are parsed as version 0, whatever the version field says; trailing bytes are ignored.",
            ("test_topics_come_back_whatever_the_version_the_user_data_and_what_follows",),
        ),
        Row("Proposed changes", "Only the protocol type `consumer` is parsed.", ("OD-4",)),
        Row(
            "Expiration semantics",
            "Offsets of partitions that are not subscribed may expire while the group lives.",
            ("test_a_stable_consumer_group_loses_only_what_nobody_subscribes",),
        ),
        Row(
            "Expiration semantics",
            "When the group is empty, all its offsets may expire.",
            ("test_an_empty_groups_offsets_expire_all_at_once_counted_from_when_it_became_empty",),
        ),
        Row("Deletion semantics", "What may expire can be deleted at once, though the group lives.", ("OD-3",)),
    ),
    "KAFKA-20461: offsets.retention.minutes=-1": (
        Row(
            "Public interfaces",
            "-1 and every positive number are values.",
            ("test_infinite_retention_is_a_value_in_one_profile_only",),
            "Profile kips; released Kafka refuses -1 (profile kafka).",
        ),
        Row(
            "Proposed changes",
            "0 and everything below -1 are refused.",
            ("test_what_kafka_refuses_is_refused_in_one_sentence",),
        ),
        Row(
            "Proposed changes",
            "With -1 nothing is expired, whatever else holds: the guard comes first.",
            ("test_an_infinite_retention_keeps_everything_explicit_timestamps_included",),
        ),
        Row(
            "Test plan",
            "Not even at the largest time.",
            ("test_an_infinite_retention_keeps_everything_explicit_timestamps_included",),
        ),
        Row("Compatibility", "The default stays 10080.", ("test_defaults",)),
    ),
}
