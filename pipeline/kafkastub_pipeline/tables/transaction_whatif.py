"""`transaction_whatif`: what another `transaction.timeout.ms` would have made of each transaction.

All of it is on the log: when a transaction began, when the coordinator decided, and the timeout that it had. The
coordinator aborts a transaction at its next look behind the timeout (Kafka: abortTimedOutTransactions), so that a
producer that ends it between the two may be in time or late. A transaction that its own timeout has aborted shows how
long it was open, and nothing of when its producer would have ended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline.tables.columns import time_of
from kafkastub_pipeline.tables.transactions import GRACE_MS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNDECIDED: Final = "undecided"
_AT_MOST: Final = "last_ms - started_ms"
_REASONS: Final = (
    ("started_ms is null", "the log does not have when it began"),
    ("tried_ms = timeout_ms", None),
    (
        f"(is_open or prepared) and {_AT_MOST} > timeout_ms + {GRACE_MS}L",
        "it outlasted its own timeout: the timers did not run with the times on the log",
    ),
    (f"{_AT_MOST} <= tried_ms and not timed_out", None),
    ("not is_open and not prepared", "the log has when it was complete, and not when that was decided"),
    (f"{_AT_MOST} > tried_ms + {GRACE_MS}L", None),
    (
        f"{_AT_MOST} > tried_ms",
        "the coordinator looks for such transactions every 10 seconds: before its end, or after it",
    ),
    ("true", "its own timeout aborted it: when its producer would have ended it is not on the log"),
)
"""What is asked of a transaction, in this order: what holds first decides why nothing can be said, or that it can."""
_TIMED_OUT: Final = (
    f"status in ('aborting', 'aborted') and coalesce(fenced, true) and {_AT_MOST} >= timeout_ms - {GRACE_MS}L"
)
"""Perhaps: another InitProducerId looks the same; where a stub's clock stands still, its timers are a little ahead."""
_EARLIER: Final = "an earlier transaction of the same producer would have ended otherwise, or that is undecided"


def transaction_whatif(found: DataFrame, tried: Sequence[int], now_ms: int) -> DataFrame:
    """A row for each transaction and timeout.

    Args:
        found: of `tables.transactions.transactions`.
        tried: timeouts, in milliseconds.
        now_ms: the moment that the tables are about: what is open then has come so far.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    tries = f.explode(f.array(*(f.lit(one).cast("bigint") for one in dict.fromkeys(tried))))
    judged = (
        found.withColumn("tried_ms", tries)
        .withColumn("is_open", f.expr("status = 'open'"))
        .withColumn("last_ms", f.expr(f"if(is_open, {now_ms}L, ended_ms)"))
        .withColumn("timed_out", f.expr(_TIMED_OUT))
        .withColumn("alone", f.expr(_first_reason()))
        .withColumn("ends", f.expr(f"alone is null and tried_ms <> timeout_ms and {_AT_MOST} > tried_ms"))
    )
    before = (
        Window.partitionBy("tried_ms", "transactional_id", "session")
        .orderBy("log_offset")
        .rowsBetween(Window.unboundedPreceding, -1)
    )
    changed = f.coalesce(f.max(f.expr("ends or alone is not null")).over(before), f.lit(False))
    return (
        judged.withColumn("_behind", changed)
        .withColumn("why", f.expr(f"if(_behind, '{_EARLIER}', alone)"))
        .withColumn("outcome", f.expr(_outcome()))
        .withColumn("changes", f.expr(f"case when outcome <> '{UNDECIDED}' then ends end"))
        .withColumn("aborted_from", time_of(f.expr("if(changes, started_ms + tried_ms, null)")))
        .withColumn("aborted_by", time_of(f.expr(f"if(changes, started_ms + tried_ms + {GRACE_MS}L, null)")))
        .withColumn("recorded", f.col("status"))
        .withColumn("recorded_timeout_ms", f.col("timeout_ms"))
        .withColumn("timeout_ms", f.col("tried_ms"))
    )


def _first_reason() -> str:
    cases = " ".join(f"when {asked} then {'null' if why is None else repr(why)}" for asked, why in _REASONS)
    return f"case {cases} end"


def _outcome() -> str:
    return f"case when why is not null then '{UNDECIDED}' when ends then 'aborted' else status end"
