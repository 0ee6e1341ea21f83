"""What the broker's timers showed when a request came: they run with the machine's clock, and with moves of a test.

A stub's clock can be moved with its timers or without, and stands still while the timers run on. A journal with frames
says of each move which it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WITH_TIMERS: Final = b"advance timers"
_QUIET: Final = b"freeze", b"unfreeze"
_SOON_US: Final = 1_000_000
_QUICK_US: Final = 100_000


class Move(NamedTuple):
    """What moved the timers.

    Attributes:
        wall_us: when, by the machine's clock in microseconds: behind the move.
        ahead_ms: by how much; None where the journal does not say.
    """

    wall_us: int
    ahead_ms: int | None


@dataclass(frozen=True)
class Timers:
    """The timers of the broker that wrote a journal.

    Attributes:
        moves: in their order.
        end_us: the last entry of the journal, by the machine's clock; None of an empty one.
    """

    moves: tuple[Move, ...] = ()
    end_us: int | None = None

    def at(self, wall_us: int) -> float:
        """Milliseconds, of which differences count."""
        return wall_us / 1000 + self._ahead_ms[self._behind(wall_us)]

    @cached_property
    def _ahead_ms(self) -> list[int]:
        """By how much the timers are ahead behind so many moves."""
        return list(accumulate((move.ahead_ms or 0 for move in self.moves), initial=0))

    def answered(self, wall_us: int, duration_us: int) -> tuple[float, float]:
        """The earliest and the latest at which a request that came then was answered.

        A move fires what falls due on its way, and is written when it is over: an answer for which a client waited may
        have been one of these.
        """
        done = wall_us + duration_us
        behind = self._behind(done)
        inside = duration_us > _QUICK_US and behind < len(self.moves)
        if inside and self.moves[behind].wall_us - done < _SOON_US:
            return self.at(done), self.at(self.moves[behind].wall_us)
        return self.at(done), self.at(done)

    def doubtful(self, from_us: int, until_us: int) -> bool:
        """Return whether the journal does not say how far the timers went between two moments."""
        return any(move.ahead_ms is None for move in self.moves[self._behind(from_us) : self._behind(until_us)])

    def _behind(self, wall_us: int) -> int:
        return bisect_right(self.moves, wall_us, key=lambda move: move.wall_us)


def timers_of(journal: DataFrame) -> Timers:
    """What a journal says of the timers."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    (end,) = journal.select(f.max(f.unix_micros("wall_time"))).collect()[0]
    columns = f.unix_millis("broker_time").alias("broker_ms"), f.unix_micros("wall_time").alias("wall_us")
    if not journal.where("kind = 'clock'").limit(1).collect():
        return Timers((), end)
    in_order = Window.orderBy("sequence")
    rows = (
        journal.select("kind", "sequence", *columns, *([f.col("request")] if "request" in journal.columns else []))
        .withColumn("before_ms", f.lag("broker_ms").over(in_order))
        .withColumn("before_us", f.lag("wall_us").over(in_order))
        .where("kind = 'clock'")
        .orderBy("sequence")
        .collect()
    )
    how = [row.request if "request" in row else None for row in rows]
    found = ((row.broker_ms, row.wall_us, row.before_ms, row.before_us) for row in rows)
    return Timers(tuple(moves(zip(found, how, strict=True))), end)


def moves(
    entries: Iterable[tuple[tuple[int, int, int | None, int | None], bytes | bytearray | None]],
) -> Iterable[Move]:
    """Each move that the timers took part in, or may have.

    Args:
        entries: of the kind `clock`: the broker's and the machine's time behind each and of the entry before it, and
            what was done.
    """
    frozen = False
    for (broker_ms, wall_us, before_ms, before_us), done in entries:
        what = None if done is None else bytes(done)
        if what is None:
            yield Move(wall_us, None)
        elif what == _WITH_TIMERS:
            if before_ms is None or before_us is None:
                yield Move(wall_us, None)
            else:
                ran = 0 if frozen else round((wall_us - before_us) / 1000)
                yield Move(wall_us, max(broker_ms - before_ms - ran, 0))
        if what in _QUIET:
            frozen = what == _QUIET[0]
