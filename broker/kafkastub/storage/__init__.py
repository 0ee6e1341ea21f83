"""Partition logs: batches as they came over the wire, by offset and by time, with the state of their
producers.

In memory. Nothing here looks at a clock or knows a topic's name for more than a message: times and settings
come in.
"""

from .by_time import TimestampAndOffset
from .epochs import UNDEFINED_EPOCH, UNDEFINED_OFFSET, LeaderEpochs
from .errors import AppendError, DataDirError, RecordError, TooMuchToUnpack
from .log import Appended, PartitionLog, Read, SavedLog
from .log_transactions import AbortedColumns, AbortedTransaction, Marker
from .manager import LogManager, SavedLogs
from .producer_ids import ProducerIdAndEpoch, ProducerIds
from .producers import ProducerEntry
from .settings import LogSettings
from .validation import Unpacking

__all__ = [
    "UNDEFINED_EPOCH",
    "UNDEFINED_OFFSET",
    "AbortedColumns",
    "AbortedTransaction",
    "AppendError",
    "Appended",
    "DataDirError",
    "LeaderEpochs",
    "LogManager",
    "LogSettings",
    "Marker",
    "PartitionLog",
    "ProducerEntry",
    "ProducerIdAndEpoch",
    "ProducerIds",
    "Read",
    "RecordError",
    "SavedLog",
    "SavedLogs",
    "TimestampAndOffset",
    "TooMuchToUnpack",
    "Unpacking",
]
