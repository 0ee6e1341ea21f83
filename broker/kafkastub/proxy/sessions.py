"""What fetch sessions ask for without naming it (KIP-227), as far as rules about Fetch want to know it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

_MOST: Final = 1000
"""Sessions of a node: Kafka has as many by default (max.incremental.fetch.session.cache.slots)."""
_Wanted = dict[tuple[str, bytes, int], None]


class FetchSessions:
    """Those of all nodes that began while somebody wanted to know."""

    def __init__(self) -> None:
        self._known: dict[int, OrderedDict[int, _Wanted]] = {}

    def note_request(self, node_id: int, request: Any) -> bool:
        """A request has come; whether it is of a session that is not known."""
        if request.session_id == 0 or request.session_epoch < 0:
            return False
        sessions = self._known.get(node_id, OrderedDict())
        wanted = sessions.get(request.session_id)
        if wanted is None:
            return True
        sessions.move_to_end(request.session_id)
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                wanted.pop((topic.topic, topic.topic_id, index), None)
        wanted.update(_named(request))
        return False

    def begun(self, node_id: int, session_id: int, request: Any) -> None:
        """The answer to a request of no session begins one; 0: it does not."""
        if session_id == 0:
            return
        sessions = self._known.setdefault(node_id, OrderedDict())
        sessions[session_id] = _named(request)
        while len(sessions) > _MOST:
            sessions.popitem(last=False)

    def of(self, node_id: int, request: Any) -> Iterator[tuple[str, bytes, int]]:
        """(topic or "", its id, partition) for all that its session has."""
        yield from self._known.get(node_id, {}).get(request.session_id, ())


def _named(request: Any) -> _Wanted:
    return {
        (topic.topic, topic.topic_id, partition.partition): None
        for topic in request.topics
        for partition in topic.partitions
    }
