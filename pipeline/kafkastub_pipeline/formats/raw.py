"""Raw records of an internal topic, in the place of Spark's Kafka source: for a session that has none.

It is registered by who reads it, and has no package of its own: users have decoded rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.formats.columns import Columns
from kafkastub_pipeline.formats.log import LogSource

if TYPE_CHECKING:
    import pyarrow as pa

NAME: Final = "kafkastub_raw_log"
_COLUMNS: Final = (
    ("key", "binary", "the record's key"),
    ("value", "binary", "its value"),
    ("partition", "int", "where it is: partition"),
    ("offset", "bigint", "and offset"),
    ("timestamp", "timestamp", "its timestamp"),
)


class RawLog(LogSource):
    """A row a record, as Spark's Kafka source has them."""

    FORMAT = NAME
    TOPIC = "__consumer_offsets"
    OPTION = "group"

    def columns(self) -> Columns:
        return _COLUMNS

    def rows(self, raw: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        from kafkastub_pipeline.formats.rows import place_columns, shaped

        place = place_columns(raw)
        columns = {"key": raw.column("key"), "value": raw.column("value"), "timestamp": place["log_timestamp"]}
        columns |= {"partition": place["log_partition"], "offset": place["log_offset"]}
        return shaped(columns, wanted, raw.num_rows)
