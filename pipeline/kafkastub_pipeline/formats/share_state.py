"""`kafka_share_state`: `__share_group_state`, a row a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.formats.log import LogSource

if TYPE_CHECKING:
    import pyarrow as pa


class KafkaShareState(LogSource):
    """Snapshots and updates of share partitions, in their order.

    Group, topic id and partition together decide where a record is: a filter on the group leaves rows out, and every
    partition of the topic is read.
    """

    FORMAT = "kafka_share_state"
    TOPIC = "__share_group_state"
    OWNER = "group_id"
    OPTION = "group"
    PLACED = False

    def rows(self, raw: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        from kafkastub_pipeline.decode.share_rows import share_row
        from kafkastub_pipeline.formats.rows import of_dicts, place_columns, shaped

        rows = list(map(share_row, raw.column("key").to_pylist(), raw.column("value").to_pylist()))
        return shaped(of_dicts(rows, wanted, {}) | place_columns(raw), wanted, raw.num_rows)
