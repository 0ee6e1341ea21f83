"""Record batches, format v2 (magic 2): headers, records, compression.

A batch is a 61-byte header and a payload of records, compressed as a whole or not. The header alone serves to
store and to fetch a batch; its payload is read only where something about single records has to be known.

Layout: KIP-98 ("Message Format"); `org.apache.kafka.common.record.DefaultRecordBatch` and `DefaultRecord`.
Formats v0 and v1 are recognised, and refused with a clear error: a broker of Kafka 4 takes only v2.
"""

from kafkawire.records.batch import (
    HEADER_SIZE,
    MAGIC,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    BatchHeader,
    add_sequence,
    check_crc,
    compute_crc,
    corrupt,
    parse_header,
    patched_header,
    sole_batch,
    split_batches,
)
from kafkawire.records.build import NewRecord, build_batch, record_size
from kafkawire.records.compression import Compression, TooMuchUnpacked, UnavailableCodecError, compress, decompress
from kafkawire.records.filtered import filtered_batch
from kafkawire.records.markers import MARKER_SIZE, EndMarker, build_marker, marker_record, read_marker
from kafkawire.records.record import (
    InvalidRecordError,
    Record,
    RecordScan,
    iterate_records,
    read_batch,
    scan_inside,
    scan_records,
)

__all__ = [
    "HEADER_SIZE",
    "MAGIC",
    "MARKER_SIZE",
    "NO_PRODUCER_EPOCH",
    "NO_PRODUCER_ID",
    "NO_SEQUENCE",
    "NO_TIMESTAMP",
    "BatchHeader",
    "Compression",
    "EndMarker",
    "InvalidRecordError",
    "NewRecord",
    "Record",
    "RecordScan",
    "TooMuchUnpacked",
    "UnavailableCodecError",
    "add_sequence",
    "build_batch",
    "build_marker",
    "check_crc",
    "compress",
    "compute_crc",
    "corrupt",
    "decompress",
    "filtered_batch",
    "iterate_records",
    "marker_record",
    "parse_header",
    "patched_header",
    "read_batch",
    "read_marker",
    "record_size",
    "scan_inside",
    "scan_records",
    "sole_batch",
    "split_batches",
]
