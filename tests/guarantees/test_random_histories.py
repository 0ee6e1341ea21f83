"""Random histories against a model that keeps everything: each record, who was given it when, what was committed when.

The model says by definition what was skipped, left behind and committed backwards; the checker, which keeps ranges
alone, has to find all of it, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarantees.history import Playing

PLACE = "orders-0"
MEMBERS = ("a", "b", "c")


@dataclass
class Model:
    """Everything that has happened to one partition of one group."""

    records: set[int] = field(default_factory=set)
    given: list[tuple[int, int, int]] = field(default_factory=list)
    """(tenure, offset, turn)"""
    commits: list[tuple[int, int, int]] = field(default_factory=list)
    """(tenure, offset, turn) of those that were accepted."""
    begun: list[tuple[int, int, int]] = field(default_factory=list)
    """(tenure, first offset that was asked for, what was committed then)"""
    turn: int = 0

    def skipped(self) -> set[int]:
        """Committed past, and never given to anybody."""
        found: set[int] = set()
        before = 0
        for _, offset, turn in self.commits:
            if offset > before:
                never = set(range(before, offset)) - {one for _, one, when in self.given if when < turn}
                found |= never - {one for _, one, _ in self.given}
            before = offset
        return found & self.records

    def left_behind(self) -> set[int]:
        """Given before, not committed when a tenure began behind it, committed in that one and not given in it.

        Not what an earlier commit was past: it was worked on, whatever was committed since.
        """
        found: set[int] = set()
        for tenure, asked, committed in self.begun:
            if asked <= committed:
                continue
            before = committed
            for of, offset, turn in self.commits:
                if of == tenure and offset > asked:
                    here = {one for by, one, when in self.given if by == tenure and when < turn}
                    earlier = {one for by, one, when in self.given if when < turn and one not in here}
                    furthest = max((one for _, one, when in self.commits if when < turn), default=0)
                    left = set(range(max(committed, before, furthest), asked)) & earlier
                    later = {one for _, one, when in self.given if when > turn}
                    found |= left - later
                    break
                if of == tenure:
                    before = offset
        return found

    def went_back(self) -> set[int]:
        """Committed once already, and committed again from below, with nothing of it given twice."""
        found: set[int] = set()
        before: int | None = None
        times = [one for _, one, _ in self.given]
        for _, offset, _ in self.commits:
            if before is not None and offset < before:
                span = set(range(offset, before))
                if all(times.count(one) <= 1 for one in span):
                    found |= {one for one in span if one in times}
            before = offset
        return found


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(1, 4)),
        st.tuples(st.just("own"), st.sampled_from(MEMBERS), st.integers(-3, 4)),
        st.tuples(st.just("fetch"), st.integers(1, 6)),
        st.tuples(st.just("seek"), st.integers(-3, 3)),
        st.tuples(st.just("commit"), st.integers(-3, 2)),
        st.tuples(st.just("refused"), st.integers(-3, 2)),
    ),
    max_size=40,
)


def played(steps: list[tuple[object, ...]]) -> tuple[Playing, Model]:
    """A member commits where it is, give or take something: that plants what is wrong."""
    play, model = Playing(), Model()
    end = committed = position = tenure = 0
    owner = ""
    has_begun = False
    for kind, *rest in steps:
        model.turn += 1
        match kind, rest:
            case "write", [int(count)]:
                play.line(f"p writes {count} to {PLACE}")
                model.records |= set(range(end, end + count))
                end += count
            case "own", [str(member), int(off)]:
                tenure += 1
                play.line(f"{member} joins")
                play.line(f"{member} owns {PLACE}")
                play.line(f"{member} reads that {PLACE} is committed up to {committed}")
                owner, position, has_begun = member, min(max(committed + off, 0), end), False
            case "fetch", [int(count)] if owner:
                last = min(position + count, end)
                told = f"{position}-{last - 1}" if last > position else "nothing"
                play.line(f"{owner} fetches {PLACE} from {position}: {told}")
                if not has_begun:
                    model.begun.append((tenure, position, committed))
                    has_begun = True
                model.given += [(tenure, offset, model.turn) for offset in range(position, last)]
                position = last
            case "seek", [int(by)] if has_begun:
                position = min(max(position + by, 0), end)
            case "commit", [int(off)] if has_begun:
                offset = min(max(position + off, 0), end)
                play.line(f"{owner} commits {PLACE} {offset}")
                model.commits.append((tenure, offset, model.turn))
                committed = offset
            case "refused", [int(off)] if has_begun:
                play.line(f"{owner} commits {PLACE} {min(max(position + off, 0), end)}: ILLEGAL_GENERATION")
    return play, model


def offsets(play: Playing, guarantee: str) -> set[int]:
    return {
        offset
        for finding in play.verdict().of(guarantee)
        for start, end in finding.offsets
        for offset in range(start, end)
    }


@settings(max_examples=400)
@given(STEPS)
def test_every_violation_is_found_and_nothing_else(steps: list[tuple[object, ...]]):
    play, model = played(steps)
    found = {name: offsets(play, name) for name in ("skipped", "left_behind", "commit_went_back")}
    assert found == {
        "skipped": model.skipped(),
        "left_behind": model.left_behind(),
        "commit_went_back": model.went_back(),
    }, str(play.verdict())
