"""Random histories of transactions against a model that keeps everything: each record, and what became of it.

The model has the log with its markers. The checker sees requests and answers alone. It has to find each violation that
they show, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarantees.history import Playing

PLACES = ("orders-0", "orders-1")
INPUT = "input-0"
WRITERS = ("p", "q")
DONE, LOST, LOST_DONE = "", ": no answer", ": no answer, but done"
FENCED = ": INVALID_PRODUCER_EPOCH"


@dataclass
class Record:
    """An offset of a log."""

    who: str
    number: int
    """Which of the producer's transactions."""
    is_marker: bool = False
    commits: bool = False


@dataclass
class Transaction:
    """One of a producer."""

    who: str
    number: int
    is_begun: bool = False
    end: bool | None = None
    """Whether it was committed."""
    is_answered: bool = False
    """Whether the end was answered."""
    is_unclear: bool = False
    """Whether an end was sent without an answer, and none with one."""
    offset: int | None = None
    """What it commits of the input."""


@dataclass
class Model:
    """Everything that has happened."""

    logs: dict[str, list[Record]] = field(default_factory=lambda: {place: [] for place in PLACES})
    transactions: dict[tuple[str, int], Transaction] = field(default_factory=dict)
    current: dict[str, Transaction] = field(default_factory=dict)
    given: dict[str, set[int]] = field(default_factory=lambda: {place: set() for place in PLACES})
    """Records of transactions that a reader of uncommitted records was given."""
    contiguous: dict[tuple[str, int], int] = field(default_factory=dict)
    """By record: up to where the log was read from its end on, by anybody, without a gap."""
    marked: dict[tuple[str, int], bool] = field(default_factory=dict)
    """By record: whether it was committed, as a marker has shown that was read without a gap behind it."""
    gone: set[str] = field(default_factory=set)
    fenced: dict[str, int] = field(default_factory=dict)
    """How often a producer was told that it was fenced, and asked for work after it."""
    committed: int = 0
    maybe: list[int] = field(default_factory=list)
    """Offsets of transactions whose end had no answer: they may be committed, or may be by a later end."""
    inside: bool = False
    outside: bool = False

    def begin(self, who: str) -> None:
        number = self.current[who].number + 1 if who in self.current else 0
        self.current[who] = self.transactions[who, number] = Transaction(who, number)

    def write(self, who: str, place: str, count: int) -> None:
        log, one = self.logs[place], self.current[who]
        one.is_begun = True
        for offset in range(len(log), len(log) + count):
            self.contiguous[place, offset] = len(log) + count
        log += [Record(who, one.number)] * count

    def end(self, who: str, commits: bool) -> None:
        """Write the markers."""
        one = self.current[who]
        if one.end is None:
            one.end = commits
            if commits and one.offset is not None:
                self.committed = one.offset
            for log in self.logs.values():
                if any(record.who == who and record.number == one.number for record in log):
                    log.append(Record(who, one.number, True, commits))

    def read(self, place: str, start: int, committed_only: bool) -> None:
        log = self.logs[place]
        for offset in range(start, len(log)):
            record = log[offset]
            if record.is_marker:
                for before in range(offset):
                    other = log[before]
                    if (other.who, other.number, other.is_marker) == (record.who, record.number, False) and (
                        self.contiguous[place, before] >= start
                    ):
                        self.marked.setdefault((place, before), record.commits)
            elif not committed_only:
                self.given[place].add(offset)
        for (where, offset), end in self.contiguous.items():
            if where == place and end >= start:
                self.contiguous[where, offset] = max(end, len(log))

    def aborted(self, place: str) -> set[int]:
        """Given to the group, and of a transaction whose abort was answered, or whose marker somebody was given."""
        found = set()
        for offset in self.given[place]:
            record = self.logs[place][offset]
            one = self.transactions[record.who, record.number]
            if (one.is_answered and one.end is False) or self.marked.get((place, offset)) is False:
                found.add(offset)
        return found

    def left_open(self) -> set[str]:
        """Begun, with no end that was sent, and their producer has gone."""
        return {
            one.who for one in self.current.values()
            if one.who in self.gone and one.is_begun and one.end is None and not one.is_unclear
        }  # fmt: skip


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(WRITERS), st.sampled_from(PLACES), st.integers(1, 2)),
        st.tuples(st.just("write"), st.sampled_from(WRITERS), st.sampled_from(PLACES), st.integers(1, 2)),
        st.tuples(
            st.just("end"), st.sampled_from(WRITERS), st.booleans(), st.sampled_from((DONE, DONE, LOST, LOST_DONE))
        ),
        st.tuples(st.just("again"), st.sampled_from(WRITERS)),
        st.tuples(st.just("offset"), st.sampled_from(WRITERS), st.integers(1, 3)),
        st.tuples(st.just("outside"), st.integers(-1, 3)),
        st.tuples(st.just("read"), st.sampled_from(PLACES), st.integers(0, 9), st.booleans()),
        st.tuples(st.just("read"), st.just(PLACES[0]), st.integers(2, 9), st.just(False)),
        st.tuples(st.just("fenced"), st.sampled_from(WRITERS)),
        st.tuples(st.just("go"), st.sampled_from(WRITERS)),
    ),
    max_size=30,
)


def played(steps: list[tuple[object, ...]]) -> tuple[Playing, Model]:
    """Two producers in transactions, and a reader "a" whose group commits offsets of the input."""
    play, model = Playing(), Model()
    for line in ("a joins", f"a owns {INPUT}, {', '.join(PLACES)}", f"a reads that {INPUT} is committed up to 0"):
        play.line(line)
    for who in WRITERS:
        play.line(f"{who} begins a transaction")
        model.begin(who)
    for kind, *rest in steps:
        who = str(rest[0])
        if who in model.gone:
            continue
        if who in WRITERS and model.fenced.get(who, -1) >= 0 and kind in ("write", "end", "offset", "again"):
            continue  # what it can do then is in "fenced"
        match kind, rest:
            case "write", [_, str(place), int(count)]:
                if not _goes_on(model, who):
                    continue
                play.line(f"{who} writes another {count} to {place}")
                model.write(who, place, count)
            case "end", [_, bool(commits), str(outcome)] if model.current[who].is_begun:
                _end(play, model, who, commits, outcome)
            case "again", [_]:
                play.line(f"{who} starts again")
                one = model.current[who]
                if one.end is None:
                    model.end(who, False)
                    one.is_answered = one.is_begun and not one.is_unclear
                model.begin(who)
            case "offset", [_, int(more)]:
                if not _goes_on(model, who):
                    continue
                offset = model.committed + more
                play.line(f"a commits {INPUT} {offset} in the transaction of {who}")
                one, model.inside = model.current[who], True
                one.is_begun, one.offset = True, offset
            case "outside", [int(more)]:
                offset = max(model.committed + more, 0)
                play.line(f"a commits {INPUT} {offset}")
                model.outside |= offset > max(model.committed, *model.maybe, 0)
                model.committed, model.maybe = offset, []
            case "read", [str(place), int(back), bool(committed_only)]:
                end = len(model.logs[place])
                start = max(end - back, 0)
                told = f"{start}-{end - 1}" if end > start else "nothing"
                play.line(f"a fetches {place} from {start}{', committed records' if committed_only else ''}: {told}")
                model.read(place, start, committed_only)
            case "fenced", [_]:
                play.line(f"{who} writes another 1 to {PLACES[0]}{FENCED}")
                model.fenced[who] = model.fenced.get(who, -1) + 1
            case "go", [_]:
                play.line(f"{who} goes")
                model.gone.add(who)
    return play, model


def _goes_on(model: Model, who: str) -> bool:
    """Whether the producer can work, in the next transaction where this one has ended.

    No client goes on where an end had no answer and was not done: it sends that end again, or begins anew.
    """
    one = model.current[who]
    if one.end is not None:
        model.begin(who)
    return one.end is not None or not one.is_unclear


def _end(play: Playing, model: Model, who: str, commits: bool, outcome: str) -> None:
    one = model.current[who]
    if one.end is not None and (one.is_answered or commits is not one.end):
        return  # no client ends twice what is ended, or otherwise than before
    play.line(f"{who} {'commits' if commits else 'aborts'} the transaction{outcome}")
    if outcome != LOST:
        model.end(who, commits)
    if one.offset is not None and outcome != DONE:
        model.maybe.append(one.offset)
    elif one.offset is not None and commits:
        model.maybe = []
    one.is_answered = one.is_answered or outcome == DONE
    one.is_unclear = outcome != DONE


@settings(max_examples=400, deadline=None)
@given(STEPS)
def test_every_violation_is_found_and_nothing_else(steps: list[tuple[object, ...]]):
    play, model = played(steps)
    verdict = play.verdict()
    for place in PLACES:
        found = {
            offset for one in verdict.of("read_aborted") if f"{one.partition[0]}-{one.partition[1]}" == place
            for start, end in one.offsets for offset in range(start, end)
        }  # fmt: skip
        assert found == model.aborted(place), str(verdict)
        notices = [one for one in verdict.of("read_uncommitted") if f"{one.partition[0]}-{one.partition[1]}" == place]
        assert bool(notices) is (bool(model.given[place]) and not found), str(verdict)
    left = {one.cause.split()[3] for one in verdict.of("transaction_left_open")}
    assert left == model.left_open(), str(verdict)
    outside = verdict.of("offsets_outside_transaction")
    assert bool(outside) is (model.inside and model.outside), str(verdict)
    fenced = {one.cause.split()[1].strip("'") for one in verdict.of("fenced_goes_on")}
    assert fenced == {who for who, times in model.fenced.items() if times > 0}, str(verdict)
