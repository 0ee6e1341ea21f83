"""BrokerHeartbeatRequest (key 63), versions 0-2. Generated from Apache Kafka 4.4.0 by protocol/generator; do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.schema import Message


class BrokerHeartbeatRequest(Message):
    __slots__ = ("broker_id", "broker_epoch", "current_metadata_offset", "want_fence", "want_shut_down", "offline_log_dirs", "cordoned_log_dirs")
    API_KEY = 63
    VERSIONS = (0, 2)
    FLEXIBLE = (0, 32767)
    FIELDS = (
        ("broker_id", "int32", (0, 2), None, None, None),
        ("broker_epoch", "int64", (0, 2), None, None, None),
        ("current_metadata_offset", "int64", (0, 2), None, None, None),
        ("want_fence", "bool", (0, 2), None, None, None),
        ("want_shut_down", "bool", (0, 2), None, None, None),
        ("offline_log_dirs", "[]uuid", (1, 2), None, 0, (1, 2)),
        ("cordoned_log_dirs", "[]uuid", (2, 2), (2, 2), 1, (2, 2)),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: Sequence[bytes] = (),
        cordoned_log_dirs: Sequence[bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs
