"""Share sessions: epochs, partitions, limits and connections."""

from __future__ import annotations

import pytest

from kafkastub.share_partitions.sessions import FINAL_EPOCH, MOST_OF_ALL, MOST_PARTITIONS, ShareSessions, next_epoch
from kafkawire.errors import KafkaError

A, B = (bytes(16), 0), (bytes(16), 1)


def test_epochs_go_on_from_one():
    assert [next_epoch(epoch) for epoch in (0, 1, 2**31 - 1, -1)] == [1, 2, 1, -1]


def test_a_session_goes_on_by_its_epochs():
    sessions = ShareSessions(10)
    sessions.begin("g", "m", [A], "c")
    assert sessions.go_on("g", "m", 1, [B], [A]).partitions == {B: True}
    assert sessions.acknowledge("g", "m", 2).epoch == 3
    assert sessions.acknowledge("g", "m", FINAL_EPOCH).epoch == 3
    for epoch in (2, 4, -2):
        with pytest.raises(KafkaError, match=r"^INVALID_SHARE_SESSION_EPOCH$"):
            sessions.go_on("g", "m", epoch, [], [])
    with pytest.raises(KafkaError, match=r"^INVALID_SHARE_SESSION_EPOCH$"):
        sessions.acknowledge("g", "unknown", 0)


def test_there_is_no_session_without_its_beginning():
    sessions = ShareSessions(10)
    for asked in (lambda: sessions.go_on("g", "m", 1, [], []), lambda: sessions.acknowledge("g", "m", -1)):
        with pytest.raises(KafkaError, match=r"^SHARE_SESSION_NOT_FOUND$"):
            asked()


def test_an_answer_tells_of_what_is_new_and_of_what_has_something():
    session = ShareSessions(10).begin("g", "m", [A, B], "c")
    assert not session.must_answer(A, 0, has_records=False)
    assert session.must_answer(A, 0, has_records=True)
    assert list(session.partitions) == [B, A]
    assert session.must_answer(B, 3, has_records=False)
    assert session.must_answer(B, 0, has_records=False)  # once more, as the error is over
    assert not session.must_answer(B, 0, has_records=False)


def test_a_new_session_takes_the_place_of_the_old_one():
    sessions = ShareSessions(1)
    old = sessions.begin("g", "m", [A], "c")
    assert sessions.begin("g", "m", [B], "d") is not old
    assert (len(sessions), sessions.partitions()) == (1, 1)
    with pytest.raises(KafkaError, match=r"^SHARE_SESSION_LIMIT_REACHED$"):
        sessions.begin("g", "other", [A], "c")
    assert sessions.disconnected("c") == (None, None)


def test_a_session_ends_with_its_connection():
    sessions = ShareSessions(10)
    one, two = sessions.begin("g", "one", [A], "c"), sessions.begin("g", "two", [A], "d")
    assert sessions.disconnected("c") == (one, None)
    assert sessions.get("g", "one") is None
    sessions.end(two)
    assert sessions.disconnected("d") == (None, "g")
    assert sessions.disconnected("d") == (None, None)


def test_nothing_is_kept_of_groups_whose_sessions_have_ended():
    sessions = ShareSessions(10)
    for number in range(100):
        sessions.end(sessions.begin(f"group {number}", "m", [], "c"))
    assert not any(sessions.any_of(f"group {number}") for number in range(100))
    assert sessions._members == {}


def test_a_session_has_room_for_so_many_partitions():
    sessions = ShareSessions(10)
    sessions.begin("g", "m", many(0, MOST_PARTITIONS - 1), "c")
    with pytest.raises(KafkaError, match=r"^SHARE_SESSION_LIMIT_REACHED$"):
        sessions.go_on("g", "m", 1, many(MOST_PARTITIONS, 2), [])
    assert sessions.partitions() == MOST_PARTITIONS - 1
    sessions.go_on("g", "m", 1, many(0, 5), [])  # they are there
    sessions.go_on("g", "m", 2, many(MOST_PARTITIONS, 1), [])
    sessions.go_on("g", "m", 3, [], many(0, 10))
    sessions.go_on("g", "m", 4, many(0, 10), [])
    with pytest.raises(KafkaError, match=r"^SHARE_SESSION_LIMIT_REACHED$"):
        sessions.begin("g", "other", many(0, MOST_PARTITIONS + 1), "c")
    assert sessions.get("g", "other") is None


def test_all_sessions_together_have_room_for_so_many():
    sessions = ShareSessions(1000)
    count = MOST_OF_ALL // MOST_PARTITIONS
    for number in range(count):
        sessions.begin("g", str(number), many(0, MOST_PARTITIONS), number)
    with pytest.raises(KafkaError, match=r"^SHARE_SESSION_LIMIT_REACHED$"):
        sessions.begin("g", "one more", [A], "c")
    sessions.disconnected(0)
    sessions.begin("g", "one more", [A], "c")
    assert sessions.partitions() == MOST_OF_ALL - MOST_PARTITIONS + 1


def many(first: int, count: int) -> list[tuple[bytes, int]]:
    return [(bytes(16), index) for index in range(first, first + count)]
