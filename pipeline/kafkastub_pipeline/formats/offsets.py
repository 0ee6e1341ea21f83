"""`kafka_offsets`: `__consumer_offsets`, decoded as the pipeline's tables are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.formats.columns import OF_OFFSETS
from kafkastub_pipeline.formats.log import LogSource
from kafkastub_pipeline.formats.options import Asked

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa


class KafkaOffsets(LogSource):
    """A row a record: commits, tombstones, and what groups of each type write of themselves."""

    FORMAT = "kafka_offsets"
    TOPIC = "__consumer_offsets"
    OWNER = "group_id"
    OPTION = "group"
    MORE = ("records",)

    def parsed_options(self) -> Asked:
        found = super().parsed_options()
        records = found.more.get("records", "all")
        if records not in ("all", "offsets"):
            raise PipelineError(f"kafka_offsets: records={records!r} is refused: it must be all or offsets")
        return found

    def names(self) -> tuple[str, ...] | None:
        return OF_OFFSETS if super().parsed_options().more.get("records") == "offsets" else None

    def rows(self, raw: pa.RecordBatch, wanted: pa.Schema) -> pa.RecordBatch:
        import numpy as np
        import pyarrow as pa

        from kafkastub_pipeline.decode import Looked, decode, halves
        from kafkastub_pipeline.formats.rows import place_columns, shaped, times

        batches = []
        for part in halves(raw):
            found = decode(Looked(part))
            columns = {name: found.column(name) for name in found.schema.names}
            types = columns["record_type"].fill_null(-1).to_numpy(zero_copy_only=False)
            columns |= _named(types, columns["tombstone"], columns["error"]) | place_columns(part)
            columns["commit_timestamp"] = times(columns["commit_ms"])
            columns["expire_timestamp"] = times(columns["expire_ms"])
            columns["classic"] = columns["group"]
            columns["subscribed_topics"] = columns["topics"]
            batch = shaped(columns, wanted, found.num_rows)
            if "group_type" not in wanted.names:
                batch = batch.filter(pa.array((types >= 0) & np.isin(types, _offset_types())))
            batches.append(batch)
        return pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], wanted)


def _offset_types() -> list[int]:
    from kafkastub_pipeline.decode.rows import OFFSET_TYPES

    return [int(one) for one in OFFSET_TYPES]


def _named(types: npt.NDArray[np.int16], tombstone: pa.Array, error: pa.Array) -> dict[str, pa.Array]:
    """The columns `event` and `group_type` of records of these types."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from kafkawire.offsets_topic import RecordType

    offsets = pa.array(np.isin(types, _offset_types()))
    known = {int(one): one for one in RecordType}
    names = pa.array([known[one].name if one in known else None for one in range(max(known) + 1)])
    kinds = pa.array([known[one].kind.value if one in known else None for one in range(max(known) + 1)])
    at = pa.array(types.astype(np.int64), mask=(types < 0) | (types > max(known)))
    of_offset = pc.if_else(tombstone, "tombstone", "commit")
    return {
        "event": pc.if_else(offsets, of_offset, names.take(at)),
        "group_type": pc.if_else(offsets, pa.scalar(None, pa.string()), kinds.take(at)),
    }
