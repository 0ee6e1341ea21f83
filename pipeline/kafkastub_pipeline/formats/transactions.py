"""`kafka_transactions`: `__transaction_state`, a row a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.formats.log import LogSource

if TYPE_CHECKING:
    import pyarrow as pa


class KafkaTransactions(LogSource):
    """What the transaction coordinator wrote of each transactional id, in its order."""

    FORMAT = "kafka_transactions"
    TOPIC = "__transaction_state"
    OWNER = "transactional_id"
    OPTION = "transactionalid"

    def rows(self, raw: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        from kafkastub_pipeline.decode.transactions import transaction_row
        from kafkastub_pipeline.formats.rows import of_dicts, place_columns, shaped

        rows = list(map(transaction_row, raw.column("key").to_pylist(), raw.column("value").to_pylist()))
        columns = of_dicts(rows, wanted, {"started_at": "started_ms", "updated_at": "updated_ms"}) | place_columns(raw)
        return shaped(columns, wanted, raw.num_rows)
