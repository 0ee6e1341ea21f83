"""Descriptions of the groups that a request names, which may be very many: DescribeGroups, ConsumerGroupDescribe…"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from kafkastub.coordinator import BatchOrder, GroupCoordinator, batch_order
from kafkastub.coordinator.group import with_members
from kafkastub.security.operations import GROUP_OPERATIONS
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.deferred import Deferred, Steps, in_parts
from kafkastub.state.groups import coordinator_of, group_partitions
from kafkawire.codec import Encoder, encoder_of
from kafkawire.errors import ErrorCode
from kafkawire.rows import Shared
from kafkawire.schema import Message, Struct

S = TypeVar("S", bound=Struct)
Members = Iterable[Any | None]
Describe = Callable[[GroupCoordinator, str], tuple[Any, Members]]
"""What is answered of a group: a struct of the answer's `groups` and what comes into its `members`, as
`GroupType.description` has them.
"""
Failed = Callable[[ErrorCode], Message]

_MANY: Final = 100
"""Groups in a request, or members in these groups, from which its answer is made, and encoded, part by part."""
_AT_ONCE: Final = 2_000
"""How much of the work is done before others have their turn: some milliseconds."""
_NAMES: Final = 500
"""Names that are put in order together."""
_GROUP: Final = 5
"""What a description counts, beside its bytes: so many names are put in order meanwhile."""
_MEMBER: Final = 20
"""What a member counts, beside its bytes."""
_ORDER: Final = 100
"""What counts what is done until a description has None in the place of a member."""
_BYTES: Final = 64
"""How many bytes of a description count as much as a name."""


class OfType(NamedTuple):
    """An API that describes groups of one type: what it has of its own.

    Attributes:
        name: the type: "share".
        serves: whether there may be groups of the type.
        group: the struct of a description.
        response: the message of the answer.
        add: (description, request) what the request alone asks for.
    """

    name: str
    serves: Callable[[BrokerState], bool]
    group: type[Any]
    response: type[Any]
    add: Callable[[Any, Any], None] | None = None

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code at every group."""
        groups = [self.group(error_code=code, group_id=group_id) for group_id in request.group_ids]
        answer: Message = self.response(groups=groups)
        return answer

    def answer(self, state: BrokerState, request: Any, version: int) -> Message | Deferred:
        """The answer: about the nameless ids first, then `described`.

        Args:
            request: has `group_ids` and `include_authorized_operations`.
        """
        if not self.serves(state):
            return self.error_response(request, ErrorCode.UNSUPPORTED_VERSION, version)
        named = [group_id for group_id in request.group_ids if group_id]
        nameless = self.group(error_code=ErrorCode.INVALID_GROUP_ID, group_id="")
        first = [nameless] * (len(request.group_ids) - len(named))
        if not named:
            answer: Message = self.response(groups=first)
            return answer

        def describe(coordinator: GroupCoordinator, group_id: str) -> tuple[Any, Members]:
            group = coordinator.readable(group_id)
            description = None if group is None else coordinator.modern[self.name].description(group)
            if description is None:
                why = "not found." if group is None else f"is not a {self.name} group."
                return self.group(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {why}", group_id), ()
            found, members = description
            if request.include_authorized_operations:
                found.authorized_operations = GROUP_OPERATIONS
            if self.add is not None:
                self.add(found, request)
            return found, members

        failed = partial(self.error_response, request, version=version)
        return described(state, named, version, describe, self.response, failed, first)


def described(
    state: BrokerState,
    group_ids: Sequence[str],
    version: int,
    describe: Describe,
    response: type[Any],
    failed: Failed,
    first: Sequence[Any] = (),
) -> Message | Deferred:
    """The answer about groups, behind what comes `first`: by the partition of `__consumer_offsets`, in Kafka's order.

    Each is described once, however often it is named, and is as it is at one moment. Of many groups, or members, it is
    done part by part. Raises KafkaError.
    """
    coordinator = coordinator_of(state)
    if len(group_ids) + len(first) > _MANY or _members(coordinator, group_ids) > _MANY:
        return _one_after_the_other(state, _in_parts(state, group_ids, version, describe, response, first), failed)
    groups = [*first]
    known: dict[str, Any] = {}  # a large group may be named many times
    for of_partition in batch_order(group_ids, group_partitions(state)):
        for group_id in of_partition:
            found = known.get(group_id)
            if found is None:
                found = known[group_id] = with_members(describe(coordinator, group_id))
            groups.append(found)
    answer: Message = response(groups=groups if len(known) == len(group_ids) else Shared(groups, {}))
    return answer


def _members(coordinator: GroupCoordinator, group_ids: Sequence[str]) -> int:
    """How many members these groups have, each counted once."""
    groups, count = coordinator.groups, 0
    for group_id in group_ids if len(group_ids) < 2 else frozenset(group_ids):
        group = groups.get(group_id)
        if group is not None:
            count += group.size
    return count


def _in_parts(
    state: BrokerState,
    group_ids: Sequence[str],
    version: int,
    describe: Describe,
    response: type[Any],
    first: Sequence[Any],
) -> Steps:
    coordinator_of(state)  # it may go while others have their turn: each group is looked up anew
    encode = encoder_of(response, "groups", version), encoder_of(response, "groups.members", version)
    partitions = group_partitions(state)
    found = yield from _in_order(group_ids, partitions, lambda one: describe(coordinator_of(state), one), *encode)
    answer: Message = response(groups=Shared([*first, *found], found.encoded) if first else found)
    return answer


def _in_order(
    group_ids: Sequence[str],
    partitions: int,
    describe: Callable[[str], tuple[S, Members]],
    encode: Encoder,
    encode_member: Encoder,
) -> Generator[int, None, Shared[S]]:
    """The descriptions in the order in which Kafka gives them; says bit by bit how much work it was.

    Args:
        describe: one group as it is then. It is asked once for one that is named many times.
        encode: the encoder of one description.
        encode_member: the encoder of a member in one.
    """
    order = BatchOrder(partitions)
    for at in range(0, len(group_ids), _NAMES):
        some = group_ids[at : at + _NAMES]
        order.add(some)
        yield len(some)
    known: dict[str, S] = {}
    encoded: dict[int, bytes] = {}
    found: list[S] = []
    for of_partition in order.in_order():
        for at in range(0, len(of_partition), _NAMES):
            some = of_partition[at : at + _NAMES]
            for group_id in some:
                described = known.get(group_id)
                if described is None:
                    described, members = describe(group_id)
                    yield from _add_members(described, members, encode_member)
                    known[group_id] = described
                    data = encoded[id(described)] = b"".join(encode(described))
                    yield _GROUP + len(data) // _BYTES
                found.append(described)
            yield len(some) // 10
    return Shared(found, encoded)


def _add_members(described: Any, members: Members, encode: Encoder) -> Generator[int, None, None]:
    """Describe and encode the members of a group, one by one."""
    rows = described.members = Shared[Any]()
    for member in members:
        if member is None:
            yield _ORDER
        else:
            rows.add((member,), encode)
            yield _MEMBER + len(rows.whole[-1]) // _BYTES


def _one_after_the_other(state: BrokerState, steps: Steps, failed: Failed) -> Message | Deferred:
    """Serve such a request part by part, others between; of such requests, one after the other.

    An answer takes ten to a hundred times the memory of its request while it is made. For the arguments see `in_parts`.
    """

    def in_turn(work: Iterator[None]) -> None:
        state.groups.describing.append(work)
        if len(state.groups.describing) == 1:
            state.transactions.turns.add(_first(state))

    return in_parts(steps, _AT_ONCE, in_turn, failed, for_nobody=False)


def _first(state: BrokerState) -> Iterator[None]:
    """Work off the first request, and let the next one begin."""
    waiting = state.groups.describing
    try:
        yield from waiting[0]
    finally:
        waiting.popleft()
        if waiting:
            state.transactions.turns.add(_first(state))
