"""The data directory: what is kept between two runs, in Kafka's own files where Kafka has some.

    DIR/.lock                                   held by the process that uses the directory
    DIR/meta.properties                         cluster id, node id, and the format of all this (kafkastub.format)
    DIR/kafkastub.json                          topics, configurations, ACLs, users, the clock; replaced as a whole
    DIR/.transactional-ids/<offset>.log         producer id and epoch of each transactional id, batches v2
    DIR/<topic>-<partition>/<offset>.log        batches v2 as they came, a segment from that offset on
    DIR/<topic>-<partition>/<offset>.appended   broker time of their appends, which batches do not tell
    DIR/<topic>-<partition>/<offset>.txnindex   aborted transactions whose markers are in the segment, as Kafka's
    DIR/<topic>-<partition>/<offset>.snapshot   the producers as they were at that offset, as Kafka's
    DIR/.deleted/<topic id>-<partition>/        of a topic whose deletion may not be known to kafkastub.json yet
    DIR/.stray/…                                partitions that no topic has; nothing looks there

What is acknowledged is written. When it is also synced is said by `kafkastub.flush` (`Disk`). Logs are served from
memory: files are read at the start only.
"""

from kafkastub.storage.errors import DataDirError

from .directory import DataDirectory
from .errors import storage_error
from .journal import Disk, Flush, Runner
from .logs import DiskLog, DiskLogs
from .partition_files import PartitionFiles

__all__ = [
    "DataDirError",
    "DataDirectory",
    "Disk",
    "DiskLog",
    "DiskLogs",
    "Flush",
    "PartitionFiles",
    "Runner",
    "storage_error",
]
