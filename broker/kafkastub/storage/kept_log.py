"""The log of an internal topic that is not compacted: its records stay until somebody says they are not needed."""

from __future__ import annotations

from bisect import bisect_right

from .state_log import Item, StateLog


def _end(item: Item) -> int:
    return item.offset + item.records


class KeptLog(StateLog):
    """All of it is tail, from the log start offset on, which only `prune` moves."""

    def prune(self, offset: int) -> list[Item]:
        """Let the log start there. The batches that end before it go; they are given back.

        `offset` is not beyond the log's end, which the writer has caught up with.
        """
        items = self.items
        behind = bisect_right(items, offset, key=_end)
        while 0 < behind < len(items) and items[behind - 1].batch == items[behind].batch:
            behind -= 1
        gone = items[:behind]
        del items[:behind]
        self.log_start_offset = max(self.log_start_offset, offset)
        return gone
