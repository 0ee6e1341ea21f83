"""`GroupHistory` looks through a group when something may be due; that must find what looking each time would."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkastub_pipeline.history import NOBODY, Commit, Deletion, Event, Explained, GroupHistory, World
from kafkastub_pipeline.roster import HEADS, MEMBERS, SUBSCRIBERS, Part, Roster
from kafkawire.offsets_topic import RecordType

MINUTE_MS = 60_000
TOPOLOGY = int(RecordType.STREAMS_GROUP_TOPOLOGY)
TOPICS = ("a", "b")
PARTS = st.builds(
    Part,
    st.sampled_from((*HEADS, *SUBSCRIBERS)),
    st.sampled_from(("m", "n")),
    st.booleans(),
    st.lists(st.sampled_from((*TOPICS, "c")), max_size=3).map(tuple),
)


@st.composite
def lives(draw: st.DrawFn) -> list[Event]:
    """A group's events: commits, generations, tombstones and requests, some at once and some long after another."""
    at, events = 0, []
    for log_offset in range(draw(st.integers(1, 25))):
        at += draw(st.sampled_from((0, 0, 1, 30_000, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS)))
        topic, partition = draw(st.sampled_from(TOPICS)), draw(st.integers(0, 1))
        others = "group", "part", "offset tombstone", "group tombstone", "asked"
        kind = draw(st.sampled_from(("commit",) * 4 + others))
        if kind == "commit":
            expires = draw(st.sampled_from((-1, -1, -1, at, at + 90_000)))
            committed = at - draw(st.sampled_from((0, 0, 3 * MINUTE_MS)))
            events.append(Event(kind, at, log_offset, topic, partition, Commit(log_offset, committed, expires)))
        elif kind == "group":
            subscribed = draw(st.sampled_from((None, frozenset(), frozenset("a"), frozenset(TOPICS))))
            since = draw(st.sampled_from((None, at, at - 3 * MINUTE_MS)))
            type_ = draw(st.sampled_from((None, "consumer", "connect")))
            state = {"protocol_type": type_, "empty": draw(st.booleans()), "since": since, "subscribed": subscribed}
            events.append(Event(kind, at, log_offset)._replace(**state))
        elif kind == "part":
            events.append(Event(kind, at, log_offset, part=draw(PARTS)))
        else:
            asked = ("DeleteGroups", "OffsetDelete", "DeleteTopics")
            by = draw(st.sampled_from(asked if kind == "asked" else (None, NOBODY, *asked)))
            events.append(Event(kind, at, log_offset, topic, partition, by=by))
    return events


def told(history: GroupHistory, events: list[Event], each_time: bool) -> Iterator[Deletion | Explained]:
    for event in events:
        for world in history.worlds:
            if each_time:
                world.quiet_until = -1
        yield from history.see(event)
    yield from history.end()


@settings(max_examples=1000)
@given(lives(), st.lists(st.sampled_from((-1, 0, 1, 2, 4, 100)), min_size=1, max_size=3), st.booleans())
def test_looking_when_something_may_be_due_finds_what_looking_each_time_finds(
    events: list[Event], retentions: list[int], kips: bool
):
    seldom = list(told(GroupHistory(retentions, kips), events, each_time=False))
    assert seldom == list(told(GroupHistory(retentions, kips), events, each_time=True))


@given(st.lists(PARTS, max_size=30))
def test_a_roster_has_what_the_last_record_of_each_member_says(parts: list[Part]):
    """As `tables.current.live_groups` finds it, from the last records alone."""
    roster = Roster()
    for part in parts:
        roster.take(part)
    last = {
        (part.record_type in MEMBERS, "" if part.record_type == TOPOLOGY else part.name): part
        for part in parts
        if part.record_type in SUBSCRIBERS
    }
    left = [part for part in last.values() if not part.tombstone]
    members = {part.name for part in left if part.record_type in MEMBERS}
    assert set(roster.members) == members
    runs = members or all(part.record_type != TOPOLOGY for part in left)  # a topology without members reads nothing
    assert roster.subscribed == ({topic for part in left for topic in part.topics} if runs else set())


def test_an_event_costs_the_same_in_a_group_of_many_offsets():
    partitions, rounds = 500, 40
    commits = [
        Event("commit", turn * 5_000, turn * partitions + one, "t", one, Commit(turn, turn * 5_000, -1))
        for turn in range(rounds)
        for one in range(partitions)
    ]
    history = GroupHistory((1,), kips=True)
    with mock.patch.object(World, "expiry", autospec=True, side_effect=World.expiry) as looks:
        assert not any(list(history.see(commit)) for commit in commits)
    assert looks.call_count <= 5 * partitions  # of 20,000 events; each looked at them all before
