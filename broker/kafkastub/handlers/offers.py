"""Which APIs there are, in which versions, and where the handler of each is: known before any of them is loaded.

What a module registers for itself (`registry.handles`) has to say the same; `tests/handlers/test_offers.py` compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafkawire.api import ApiKey


class Offer(NamedTuple):
    """One API, as `registry.Registration` has it."""

    module: str
    """In `kafkastub.handlers`."""
    first: int
    last: int
    advertised_first: int
    advertised: bool = True


OFFERS: Final[Mapping[ApiKey, Offer]] = {
    ApiKey.PRODUCE: Offer("k00_produce", 3, 13, 0),
    ApiKey.FETCH: Offer("k01_fetch", 4, 18, 4),
    ApiKey.LIST_OFFSETS: Offer("k02_list_offsets", 1, 11, 1),
    ApiKey.METADATA: Offer("k03_metadata", 0, 13, 0),
    ApiKey.OFFSET_COMMIT: Offer("k08_offset_commit", 2, 10, 2),
    ApiKey.OFFSET_FETCH: Offer("k09_offset_fetch", 1, 10, 1),
    ApiKey.FIND_COORDINATOR: Offer("k10_find_coordinator", 0, 6, 0),
    ApiKey.JOIN_GROUP: Offer("k11_join_group", 0, 9, 0),
    ApiKey.HEARTBEAT: Offer("k12_heartbeat", 0, 4, 0),
    ApiKey.LEAVE_GROUP: Offer("k13_leave_group", 0, 5, 0),
    ApiKey.SYNC_GROUP: Offer("k14_sync_group", 0, 5, 0),
    ApiKey.DESCRIBE_GROUPS: Offer("k15_describe_groups", 0, 6, 0),
    ApiKey.LIST_GROUPS: Offer("k16_list_groups", 0, 5, 0),
    ApiKey.SASL_HANDSHAKE: Offer("k17_sasl_handshake", 0, 1, 0),
    ApiKey.API_VERSIONS: Offer("k18_api_versions", 0, 5, 0),
    ApiKey.CREATE_TOPICS: Offer("k19_create_topics", 2, 7, 2),
    ApiKey.DELETE_TOPICS: Offer("k20_delete_topics", 1, 6, 1),
    ApiKey.DELETE_RECORDS: Offer("k21_delete_records", 0, 2, 0),
    ApiKey.INIT_PRODUCER_ID: Offer("k22_init_producer_id", 0, 5, 0),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Offer("k23_offset_for_leader_epoch", 2, 4, 2),
    ApiKey.ADD_PARTITIONS_TO_TXN: Offer("k24_add_partitions_to_txn", 0, 5, 0),
    ApiKey.ADD_OFFSETS_TO_TXN: Offer("k25_add_offsets_to_txn", 0, 4, 0),
    ApiKey.END_TXN: Offer("k26_end_txn", 0, 5, 0),
    ApiKey.WRITE_TXN_MARKERS: Offer("k27_write_txn_markers", 1, 2, 1),
    ApiKey.TXN_OFFSET_COMMIT: Offer("k28_txn_offset_commit", 0, 6, 0),
    ApiKey.DESCRIBE_ACLS: Offer("k29_describe_acls", 1, 3, 1),
    ApiKey.CREATE_ACLS: Offer("k30_create_acls", 1, 3, 1),
    ApiKey.DELETE_ACLS: Offer("k31_delete_acls", 1, 3, 1),
    ApiKey.DESCRIBE_CONFIGS: Offer("k32_describe_configs", 1, 4, 1),
    ApiKey.ALTER_CONFIGS: Offer("k33_alter_configs", 0, 2, 0),
    ApiKey.ALTER_REPLICA_LOG_DIRS: Offer("k34_alter_replica_log_dirs", 1, 2, 1),
    ApiKey.DESCRIBE_LOG_DIRS: Offer("k35_describe_log_dirs", 1, 5, 1),
    ApiKey.SASL_AUTHENTICATE: Offer("k36_sasl_authenticate", 0, 2, 0),
    ApiKey.CREATE_PARTITIONS: Offer("k37_create_partitions", 0, 3, 0),
    ApiKey.CREATE_DELEGATION_TOKEN: Offer("k38_create_delegation_token", 1, 3, 1),
    ApiKey.RENEW_DELEGATION_TOKEN: Offer("k39_renew_delegation_token", 1, 2, 1),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Offer("k40_expire_delegation_token", 1, 2, 1),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Offer("k41_describe_delegation_token", 1, 3, 1),
    ApiKey.DELETE_GROUPS: Offer("k42_delete_groups", 0, 3, 0),
    ApiKey.ELECT_LEADERS: Offer("k43_elect_leaders", 0, 2, 0),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Offer("k44_incremental_alter_configs", 0, 1, 0),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Offer("k45_alter_partition_reassignments", 0, 1, 0),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Offer("k46_list_partition_reassignments", 0, 0, 0),
    ApiKey.OFFSET_DELETE: Offer("k47_offset_delete", 0, 0, 0),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: Offer("k48_describe_client_quotas", 0, 1, 0),
    ApiKey.ALTER_CLIENT_QUOTAS: Offer("k49_alter_client_quotas", 0, 1, 0),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Offer("k50_describe_user_scram_credentials", 0, 0, 0),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Offer("k51_alter_user_scram_credentials", 0, 0, 0),
    ApiKey.DESCRIBE_QUORUM: Offer("k55_describe_quorum", 0, 2, 0),
    ApiKey.UPDATE_FEATURES: Offer("k57_update_features", 0, 2, 0),
    ApiKey.DESCRIBE_CLUSTER: Offer("k60_describe_cluster", 0, 2, 0),
    ApiKey.DESCRIBE_PRODUCERS: Offer("k61_describe_producers", 0, 0, 0),
    ApiKey.UNREGISTER_BROKER: Offer("k64_unregister_broker", 0, 0, 0),
    ApiKey.DESCRIBE_TRANSACTIONS: Offer("k65_describe_transactions", 0, 0, 0),
    ApiKey.LIST_TRANSACTIONS: Offer("k66_list_transactions", 0, 2, 0),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Offer("k68_consumer_group_heartbeat", 0, 1, 0),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Offer("k69_consumer_group_describe", 0, 1, 0),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: Offer("k71_get_telemetry_subscriptions", 0, 0, 0, advertised=False),
    ApiKey.PUSH_TELEMETRY: Offer("k72_push_telemetry", 0, 0, 0, advertised=False),
    ApiKey.LIST_CONFIG_RESOURCES: Offer("k74_list_config_resources", 0, 1, 0),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Offer("k75_describe_topic_partitions", 0, 0, 0),
    ApiKey.SHARE_GROUP_HEARTBEAT: Offer("k76_share_group_heartbeat", 1, 1, 1),
    ApiKey.SHARE_GROUP_DESCRIBE: Offer("k77_share_group_describe", 1, 1, 1),
    ApiKey.SHARE_FETCH: Offer("k78_share_fetch", 1, 2, 1),
    ApiKey.SHARE_ACKNOWLEDGE: Offer("k79_share_acknowledge", 1, 2, 1),
    ApiKey.ADD_RAFT_VOTER: Offer("k80_add_raft_voter", 0, 1, 0),
    ApiKey.REMOVE_RAFT_VOTER: Offer("k81_remove_raft_voter", 0, 0, 0),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: Offer("k83_initialize_share_group_state", 0, 0, 0),
    ApiKey.READ_SHARE_GROUP_STATE: Offer("k84_read_share_group_state", 0, 0, 0),
    ApiKey.WRITE_SHARE_GROUP_STATE: Offer("k85_write_share_group_state", 0, 1, 0),
    ApiKey.DELETE_SHARE_GROUP_STATE: Offer("k86_delete_share_group_state", 0, 0, 0),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: Offer("k87_read_share_group_state_summary", 0, 1, 0),
    ApiKey.STREAMS_GROUP_HEARTBEAT: Offer("k88_streams_group_heartbeat", 0, 1, 0),
    ApiKey.STREAMS_GROUP_DESCRIBE: Offer("k89_streams_group_describe", 0, 1, 0),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: Offer("k90_describe_share_group_offsets", 0, 1, 0),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: Offer("k91_alter_share_group_offsets", 0, 0, 0),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: Offer("k92_delete_share_group_offsets", 0, 0, 0),
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: Offer("k93_streams_group_topology_description_update", 0, 0, 0),
    ApiKey.UNREGISTER_CONTROLLER: Offer("k94_unregister_controller", 0, 0, 0),
}
"""In the order of keys."""

USUAL: Final[tuple[ApiKey, ...]] = (
    ApiKey.API_VERSIONS,
    ApiKey.METADATA,
    ApiKey.FIND_COORDINATOR,
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.JOIN_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.OFFSET_FETCH,
    ApiKey.OFFSET_COMMIT,
    ApiKey.LEAVE_GROUP,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.CREATE_TOPICS,
)
"""What most clients ask for, in about that order."""
