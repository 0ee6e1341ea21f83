"""What groups are given and commit: skipped, left behind, went back, not owned, reset, redelivered, never committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafkastub.guarantees.events import (
    At,
    Client,
    Commit,
    Committed,
    Fetched,
    Listed,
    Partition,
    PositionsRead,
)
from kafkastub.guarantees.findings import Finding, error_name, found
from kafkastub.guarantees.ownership import Ownership
from kafkastub.guarantees.ranges import Range, Ranges, left_over
from kafkastub.guarantees.state import (
    MOST_CLIENTS,
    MOST_MAYBE,
    Behind,
    Group,
    GroupPartition,
    Refused,
    State,
    Tenure,
    short,
)

MOST_SUSPECTS: Final = 1000
"""Of one guarantee that are kept until somebody asks."""
_LATEST: Final = -1

Look = Callable[[Partition, int, int], list[Range] | None]
"""The records that are in a log from an offset to another, by offsets; None where nobody can say."""


class _Told(NamedTuple):
    """What ListOffsets has told."""

    timestamp: int
    offset: int
    at: At


class Redelivered(NamedTuple):
    """Records that were given again, and why."""

    group: str
    partition: Partition
    offsets: Range
    why: str
    at: At
    member: str


@dataclass
class Suspect:
    """A finding that comes true, or does not, when all is over: records may be given later."""

    guarantee: str
    group: str
    partition: Partition
    offsets: list[Range]
    cause: str
    at: At
    others: tuple[At | None, ...]
    members: tuple[str, ...]


class Consumers:
    """The guarantees of those who read."""

    def __init__(self, state: State, ownership: Ownership) -> None:
        self._state = state
        self._ownership = ownership
        self.suspects: list[Suspect] = []
        self.redelivered: list[Redelivered] = []
        self._told: dict[tuple[int, Partition], _Told] = {}
        """The offset that a connection was told of a partition last: its end, its beginning, that of a time."""
        self.commits = 0
        self.given = 0

    # --- what comes

    def fetched(self, event: Fetched) -> None:
        log = self._state.log(event.partition)
        log.read(event.batches, event.asked, event.end)
        if event.log_start > log.start:
            log.start = event.log_start
        if event.end <= event.asked and event.error:
            return
        groups = self._state.groups_of(event.client, event.partition)
        self.given += event.end - event.asked
        if len(groups) == 1:
            self._given(groups[0], event)
        elif event.end > event.asked:
            for group in groups:
                of = group.partition(event.partition)
                of.maybe_given.add(event.asked, event.end)
                if of.tenure is not None:
                    of.tenure.maybe.add(event.asked, event.end)
            if not groups:
                key = event.client.client_id, event.partition
                self._state.loose.setdefault(key, Ranges()).add(event.asked, event.end)
                while len(self._state.loose) > MOST_CLIENTS:
                    del self._state.loose[next(iter(self._state.loose))]
                    self._state.forget("readers without a group")

    def _given(self, group: Group, event: Fetched) -> None:
        of = group.partition(event.partition)
        asked, end, tenure = event.asked, event.end, of.tenure
        of.client_ids.add(event.client.client_id)
        if of.baseline is None:
            of.baseline = asked
        certain = tenure is not None and self._ownership.is_by_owner(group, tenure, event.client, event.at)
        who = short(tenure.member) if certain and tenure is not None else event.client.client_id
        if tenure is not None and certain and tenure.first is None:
            tenure.first = event.at
            self._began(group, of, tenure, event)
        if end <= asked:
            return
        again = of.given.within(asked, end)
        for one in again:
            if one[0] >= of.given.forgotten:
                of.again.add(*one)
                for left in of.left:
                    left[:] = left_over(left, Ranges([one]))
        of.tell(event.at, "given again" if again else "given", who, asked, end)
        of.given.add(asked, end)
        if tenure is not None:
            (tenure.given if certain else tenure.maybe).add(asked, end)

    def _began(self, group: Group, of: GroupPartition, tenure: Tenure, event: Fetched) -> None:
        """An owner asks for the first time: has it begun where it should?"""
        asked = event.asked
        told = self._told.get((event.client.connection, event.partition))
        if told is not None and (told.offset != asked or told.at.ended < tenure.began.ended):
            told = None
        if of.is_known:
            start = of.committed if of.committed is not None else of.baseline
            known = max([asked if start is None else start, *of.maybe])
            if told is not None and of.committed is None:
                self._reset_to(group, of, tenure, event, told)
            elif asked > known and told is None:
                of.behind.append(Behind(known, asked, of.committed_at, event.at, tenure.member, of.last_member))
        if asked < of.given.end and len(self.redelivered) < MOST_SUSPECTS:
            why = _why_again(of, asked)
            for one in of.given.within(asked, of.given.end):
                self.redelivered.append(Redelivered(group.name, event.partition, one, why, event.at, tenure.member))
        of.over = ""

    def _reset_to(self, group: Group, of: GroupPartition, tenure: Tenure, event: Fetched, told: _Told) -> None:
        """Nothing is committed: the reset decided where it begins."""
        log = self._state.log(event.partition)
        least = group.ends.get(event.partition, log.first)
        if of.given:
            least = of.given.end
        if told.timestamp == _LATEST and 0 <= least < event.asked:
            cause = (
                f"nothing was committed, and auto.offset.reset=latest began at {event.asked}, past records that were "
                f"{'behind what the group had been given' if of.given else 'written after the group was first joined'}"
            )
            self._suspect(
                "reset_skipped", group, event.partition, [(least, event.asked)], cause, event.at, told.at,
                of.committed_at, members=(tenure.member,),
            )  # fmt: skip

    def listed(self, event: Listed) -> None:
        if event.timestamp == _LATEST:
            log = self._state.log(event.partition)
            log.end = max(log.end, event.offset)
        self._told[event.client.connection, event.partition] = _Told(event.timestamp, event.offset, event.at)
        while len(self._told) > MOST_CLIENTS:
            del self._told[next(iter(self._told))]

    def positions(self, event: PositionsRead) -> None:
        """OffsetFetch tells what is committed, whatever was thought before."""
        group = self._state.group(event.group)
        self._ownership.spoken(group, event.client)
        for partition, offset in event.offsets:
            of = group.partition(partition)
            overlaps = of.committed_at is not None and of.committed_at.ended > event.at.began
            if overlaps and of.committed is not None and offset < of.committed:
                continue
            if of.committed != offset:  # who has set it is not in the history
                of.furthest = max(offset, 0)
            of.is_known, of.committed, of.committed_at = True, None if offset < 0 else offset, event.at
            of.maybe.clear()
            if of.refused is not None and offset >= of.refused.offset:
                of.refused = None

    def committed(self, event: Committed, commits: tuple[Commit, ...]) -> None:
        """`commits` are those that count: of a transaction, when it was committed."""
        group = self._state.group(event.group)
        self._ownership.spoken(group, event.client)
        for commit in commits:
            self.commits += 1
            of = group.partition(commit.partition)
            of.commits += 1
            who = short(event.member) if event.member else event.client.client_id
            if commit.error is None:
                of.tell(event.at, "commit without an answer", who, commit.offset)
                of.maybe.append(commit.offset)
                del of.maybe[:-MOST_MAYBE]
                of.refused = Refused(commit.offset, None, event.at, event.member)
            elif commit.error:
                of.tell(event.at, f"commit refused with {error_name(commit.error)}", who, commit.offset)
                of.refused = Refused(commit.offset, commit.error, event.at, event.member)
            else:
                of.tell(event.at, "committed", who, commit.offset)
                self._accepted(group, of, event, commit.partition, commit.offset)

    def _accepted(self, group: Group, of: GroupPartition, event: Committed, partition: Partition, offset: int) -> None:
        before = of.committed if of.is_known else None
        last = of.committed_at
        overlaps = last is not None and last.ended > event.at.began and event.at.sequence != last.sequence
        reads = event.client.client_id in of.client_ids or (event.client.client_id, partition) in self._state.loose
        if event.member:
            self._ownership.is_behind(group, event.member, event.client)
            self._check_owner(group, of, event, partition, offset)
        start = before if before is not None else of.baseline
        if start is not None and (reads or event.member):
            if offset > start:
                self._check_given(group, of, event, partition, start, offset)
            elif offset < start and before is not None and not overlaps:
                self._check_back(group, of, event, partition, offset, before)
        if overlaps and before is not None:
            of.maybe.append(min(before, offset))
            offset = max(before, offset)
        else:
            of.maybe.clear()
        of.furthest = max(of.furthest, offset) if event.member else offset
        of.committed, of.is_known, of.committed_at = offset, True, event.at
        if of.tenure is not None:
            of.tenure.commits += 1
        if of.refused is not None and offset >= of.refused.offset:
            of.refused = None

    # --- what is judged

    def _check_given(
        self, group: Group, of: GroupPartition, event: Committed, partition: Partition, start: int, offset: int
    ) -> None:
        loose = self._state.loose.get((event.client.client_id, partition), Ranges())
        unknown = self._state.decidable(partition, start, offset)
        never = left_over([(unknown, offset)], of.given, of.maybe_given, loose) if unknown < offset else []
        if never:
            cause = (
                f"{_who(event.member, event.client)} committed {offset}, past records that the group was never given"
            )
            self._suspect("skipped", group, partition, never, cause, event.at, of.committed_at, members=(event.member,))
        tenure = of.tenure
        for one in tuple(of.behind):
            if offset <= one.end:
                continue  # it may confirm what the owner before has done
            of.behind.remove(one)
            if tenure is None:
                continue
            least = max(one.start, start, of.furthest)
            left = left_over([(least, one.end)], tenure.given, tenure.maybe) if least < one.end else []
            left = [rest for each in left for rest in of.given.within(*each)]
            if left:
                given_to = f"had been given to {short(one.before)}" if one.before else "had been given to the group"
                cause = (
                    f"{short(one.member)} began at {one.end} though {one.start} was committed, and committed {offset}: "
                    f"the records between {given_to}, were not committed, and were not given again"
                )
                self._suspect(
                    "left_behind", group, partition, left, cause, event.at, one.committed_at, one.began,
                    members=(one.before, one.member),
                )  # fmt: skip
                of.left.append(left)
                del of.left[:-MOST_MAYBE]

    def _check_back(
        self, group: Group, of: GroupPartition, event: Committed, partition: Partition, offset: int, before: int
    ) -> None:
        cause = f"{_who(event.member, event.client)} committed {offset} when {before} was committed already"
        self._suspect(
            "commit_went_back", group, partition, [(offset, before)], cause, event.at, of.committed_at,
            members=(event.member,),
        )  # fmt: skip

    def _check_owner(
        self, group: Group, of: GroupPartition, event: Committed, partition: Partition, offset: int
    ) -> None:
        member, tenure = group.members.get(event.member), of.tenure
        if member is None or tenure is None or tenure.instance == member.instance:
            return
        if tenure.began.ended >= event.at.began:
            return
        cause = f"{_who(event.member, event.client)} committed {offset} when {short(tenure.member)} had the partition"
        self._suspect(
            "commit_without_owning", group, partition, [], cause, event.at, tenure.began,
            members=(event.member, tenure.member),
        )  # fmt: skip

    def _suspect(
        self, guarantee: str, group: Group, partition: Partition, offsets: list[Range], cause: str, at: At,
        *others: At | None, members: tuple[str, ...],
    ) -> None:  # fmt: skip
        if len(self.suspects) >= MOST_SUSPECTS:
            self._state.forget("findings")
            return
        self.suspects.append(Suspect(guarantee, group.name, partition, offsets, cause, at, others, members))

    # --- what is told

    def findings(self, look: Look | None, undecided: list[str]) -> Iterator[Finding]:
        """What is true by now."""
        loose = self._loose() if self._state.partial and self.suspects else {}
        for one in self.suspects:
            group = self._state.groups[one.group]
            of = group.partition(one.partition)
            offsets = self._still(one, of, look, loose, undecided)
            if offsets is None:
                continue
            yield found(
                one.guarantee, one.cause, one.at, *one.others, partition=one.partition, offsets=offsets,
                group=one.group, members=one.members, of=of,
            )  # fmt: skip
        yield from self._notices()

    def _loose(self) -> dict[Partition, Ranges]:
        """What clients of no known group were given."""
        found: dict[Partition, Ranges] = {}
        for (_, partition), given in self._state.loose.items():
            together = found.setdefault(partition, Ranges())
            for each in given:
                together.add(*each)
        return found

    def _still(
        self,
        one: Suspect,
        of: GroupPartition,
        look: Look | None,
        loose: Mapping[Partition, Ranges],
        undecided: list[str],
    ) -> list[Range] | None:
        """The offsets that it is about by now; None where it is not true.

        `loose` is what may have been given to its group, because the history begins behind what names the group.
        """
        match one.guarantee:
            case "commit_without_owning":
                return []
            case "commit_went_back":
                again = left_over(one.offsets, of.again, of.maybe_given)
                given = [rest for each in again for rest in of.given.within(*each)]
                return given if given and again == one.offsets else None
            case "left_behind":
                return one.offsets or None
        never = left_over(one.offsets, of.given, of.maybe_given)
        log = self._state.log(one.partition)
        never = [(max(start, log.start), end) for start, end in never if end > log.start]
        known = [rest for start, end in never for rest in self._records(one.partition, start, end, look, undecided)]
        left = left_over(known, loose[one.partition]) if one.partition in loose else known
        if left != known:
            undecided.append(
                f"{one.partition[0]}-{one.partition[1]}: group {one.group} went past offsets {known[0][0]} to "
                f"{known[-1][1] - 1}; a client whose group is not known was given records of them, and may belong to "
                "it: the history begins in the middle"
            )
        return left or None

    def _records(
        self, partition: Partition, start: int, end: int, look: Look | None, undecided: list[str]
    ) -> list[Range]:
        """Where there are records, as far as anybody knows."""
        seen = None if look is None else look(partition, start, end)
        if seen is not None:
            return seen
        log = self._state.log(partition)
        found_here = log.data.within(start, end)
        unknown = left_over([(start, end)], log.data, log.aborted)
        if unknown and not found_here and start < log.end:
            undecided.append(
                f"{partition[0]}-{partition[1]}: offsets {start} to {end - 1} were committed and never given, and "
                "nobody has seen whether there are records"
            )
        return found_here

    def _notices(self) -> Iterator[Finding]:
        for each in self.redelivered:
            yield found(
                "redelivered", each.why, each.at, partition=each.partition, offsets=[each.offsets], group=each.group,
                members=(each.member,), of=self._state.groups[each.group].partition(each.partition),
            )  # fmt: skip
        for name, group in self._state.groups.items():
            for partition, of in group.partitions.items():
                refused = of.refused
                if refused is not None and refused.error and (of.committed or 0) < refused.offset:
                    cause = (
                        f"the commit of {refused.offset} was refused with {error_name(refused.error)} and not repeated"
                    )
                    yield found(
                        "failed_commit_not_repeated", cause, refused.at, partition=partition,
                        offsets=of.given.within(of.committed or 0, refused.offset), group=name,
                        members=(refused.member,), of=of,
                    )  # fmt: skip
            yield from self._never_commits(group)

    def _never_commits(self, group: Group) -> Iterator[Finding]:
        left = [one for one in group.members.values() if one.gone == "left"]
        if not left or any(of.commits for of in group.partitions.values()):
            return
        for partition, of in group.partitions.items():
            if of.given and group.joined is not None:
                cause = "the group was given records, its members left, and nothing was ever committed"
                yield found(
                    "never_commits", cause, group.joined, partition=partition, offsets=list(of.given),
                    group=group.name, members=tuple(one.id for one in left[:4]), of=of,
                )  # fmt: skip


def _why_again(of: GroupPartition, asked: int) -> str:
    """Why records are given again from an offset on."""
    if of.refused is not None and of.refused.offset > asked:
        if of.refused.error is None:
            return f"the commit of {of.refused.offset} had no answer, and {asked} is what is committed"
        return f"the commit of {of.refused.offset} was refused with {error_name(of.refused.error)}"
    why = of.over or "it began anew"
    if of.committed is None:
        return f"{why}, and nothing was committed"
    if asked == of.committed == of.given.end - 1:
        return f"{why}, and committed {asked}, the offset of the last record: commit the next offset, {asked + 1}"
    if asked < of.committed:
        return f"{why}, and it went back to {asked}, before {of.committed}, which was committed"
    return f"{why} before what was given behind {of.committed} was committed"


def _who(member: str, client: Client) -> str:
    return short(member) if member else f"client {client.client_id!r}, without a member id,"
