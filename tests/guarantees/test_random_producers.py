"""Random histories of producers against a model that keeps everything: each batch that was sent, and what became of it.

The model knows what the broker knows, and the checker only what was answered. The checker has to find all that follows
from the answers, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarantees.history import Playing

PLACE = "orders-0"
WRITERS = ("p", "q")
WRITTEN, LOST, LOST_WRITTEN = "", ": no answer", ": no answer, but written"
RETRIABLE = ": NOT_LEADER_OR_FOLLOWER"
MAYBE = ": REQUEST_TIMED_OUT"
FINAL = ": MESSAGE_TOO_LARGE"


@dataclass
class Attempt:
    """A batch that was sent, once."""

    turn: int
    who: str
    number: int
    """Which of the client's batches."""
    outcome: str
    start: int
    """Its first offset; -1 if it was not written."""


@dataclass
class Model:
    """Everything that was sent."""

    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    """Records of each batch."""
    attempts: list[Attempt] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    end: int = 0

    def of(self, batch: tuple[str, int]) -> list[Attempt]:
        return [one for one in self.attempts if (one.who, one.number) == batch]

    def given_up(self) -> set[tuple[str, int]]:
        """Refused with an error that can be tried again, in no attempt written, and the client has gone on or has gone.

        Where the batch was sent again without an answer nobody knows.
        """
        found = set()
        for batch in self.counts:
            tries = self.of(batch)
            refused = any(one.outcome == RETRIABLE for one in tries)
            if not refused or any(one.outcome in (WRITTEN, LOST, LOST_WRITTEN, MAYBE) for one in tries):
                continue
            last = max(one.turn for one in tries if one.outcome == RETRIABLE)
            went_on = any(one.who == batch[0] and one.outcome == WRITTEN and one.turn > last for one in self.attempts)
            if went_on or batch[0] in self.gone:
                found.add(batch)
        return found

    def twice(self) -> set[tuple[int, int]]:
        """Written without an answer, and again with one, with nothing between: the offsets of all of them.

        Where another batch had no answer meanwhile, nobody knows whose records lie between.
        """
        found = set()
        for batch, count in self.counts.items():
            tries = self.of(batch)
            accepted = [one for one in tries if one.outcome == WRITTEN]
            open_ones = [one for one in tries if one.outcome in (LOST, LOST_WRITTEN, MAYBE)]
            copies = [one for one in open_ones if one.start >= 0]
            if not accepted or not copies:
                continue
            end = accepted[0].start
            if end == copies[0].start + count * len(copies) and self._is_clear(batch, open_ones[0], accepted[0]):
                found.add((copies[0].start, end + count))
        return found

    def _is_clear(self, batch: tuple[str, int], first: Attempt, last: Attempt) -> bool:
        """Whether the log's end was known before the first, and every other batch was answered until the last."""
        seen = max((one.turn for one in self.attempts if one.turn < first.turn and one.outcome == WRITTEN), default=-1)
        others = [one for one in self.attempts if seen < one.turn < last.turn and (one.who, one.number) != batch]
        return all(one.outcome in (RETRIABLE, FINAL) for one in others)

    def out_of_order(self) -> set[tuple[int, int]]:
        """Refused for certain, and written behind a batch that the same client had sent after it: its offsets."""
        found = set()
        for batch, count in self.counts.items():
            tries = self.of(batch)
            accepted = next((one for one in tries if one.outcome == WRITTEN), None)
            refused = next((one for one in tries if one.outcome in (RETRIABLE, FINAL)), None)
            if accepted is None or refused is None:
                continue
            behind = next(
                (
                    one
                    for one in self.attempts
                    if one.who == batch[0] and one.number != batch[1] and one.outcome == WRITTEN
                    and refused.turn < one.turn < accepted.turn
                ),
                None,
            )  # fmt: skip
            unclear = [one for one in tries if one.outcome in (LOST, LOST_WRITTEN, MAYBE)]
            if behind is not None and not any(one.turn < behind.turn for one in unclear):
                found.add((accepted.start, accepted.start + count))
        return found


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("new"),
            st.sampled_from(WRITERS),
            st.integers(1, 3),
            st.sampled_from((WRITTEN, WRITTEN, LOST, LOST_WRITTEN, RETRIABLE, RETRIABLE, MAYBE, FINAL)),
        ),
        st.tuples(
            st.just("again"),
            st.sampled_from(WRITERS),
            st.integers(0, 1),
            st.sampled_from((WRITTEN, WRITTEN, WRITTEN, LOST, LOST_WRITTEN, RETRIABLE, FINAL)),
        ),
        st.tuples(st.just("again"), st.sampled_from(WRITERS), st.integers(0, 3), st.just(WRITTEN)),
        st.tuples(st.just("go"), st.sampled_from(WRITERS)),
    ),
    max_size=25,
)


def ordinal(number: int) -> str:
    return f"{number}{'st' if number == 1 else 'nd' if number == 2 else 'rd' if number == 3 else 'th'}"


def played(steps: list[tuple[object, ...]]) -> tuple[Playing, Model]:
    """A client sends a new batch, or one of its last ones again; each is written, refused, or without an answer."""
    play, model = Playing(), Model()
    sent: dict[str, int] = dict.fromkeys(WRITERS, 0)

    def send(who: str, number: int, outcome: str) -> None:
        count = model.counts[who, number]
        which = "another" if number == sent[who] and not model.of((who, number)) else f"the {ordinal(number)}"
        play.line(f"{who} writes {which} {count} to {PLACE}{outcome}")
        before = model.end
        is_written = outcome in (WRITTEN, LOST_WRITTEN)
        model.end += count if is_written else 0
        model.attempts.append(Attempt(play.sequence, who, number, outcome, before if is_written else -1))

    for kind, who, *rest in steps:
        assert isinstance(who, str)
        if who in model.gone:
            continue
        match kind, rest:
            case "new", [int(count), str(outcome)]:
                sent[who] += 1
                model.counts[who, sent[who]] = count
                send(who, sent[who], outcome)
            case "again", [int(back), str(outcome)] if sent[who] > back:
                tries = model.of((who, sent[who] - back))
                if not any(one.outcome == WRITTEN for one in tries):  # no client repeats what is done
                    send(who, sent[who] - back, outcome)
            case "go", []:
                play.line(f"{who} goes")
                model.gone.add(who)
    return play, model


@settings(max_examples=400, deadline=None)
@given(STEPS)
def test_every_violation_is_found_and_nothing_else(steps: list[tuple[object, ...]]):
    play, model = played(steps)
    verdict = play.verdict()
    by_turn = {one.turn: (one.who, one.number) for one in model.attempts}
    given_up = {by_turn[one.entries[0]] for one in verdict.of("refused_and_given_up")}
    assert given_up == model.given_up(), str(verdict)
    assert {one.offsets[0] for one in verdict.of("sent_twice")} == model.twice(), str(verdict)
    assert {one.offsets[0] for one in verdict.of("out_of_order")} == model.out_of_order(), str(verdict)
