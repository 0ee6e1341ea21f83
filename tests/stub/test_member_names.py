"""A member by any of its names, and what is said where there is none."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafkastub.views.member_names import member_named


class Member(NamedTuple):
    member_id: str
    client_id: str
    group_instance_id: str | None = None


def members(*some: Member) -> dict[str, Member]:
    return {one.member_id: one for one in some}


def test_a_member_has_three_names() -> None:
    known = members(Member("1", "a"), Member("2", "b", "i"))
    assert [member_named("g", known, name).member_id for name in ("1", "a", "i", "b")] == ["1", "1", "2", "2"]


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (members(), "group 'g' has no member 'x', and no other"),
        (
            members(Member("1", "a"), Member("2", "b"), Member("3", "b")),
            "group 'g' has no member 'x', only 'a', '2', '3'",
        ),
        (members(Member("1", "")), "group 'g' has no member 'x', only '1'"),
        (
            members(*(Member(f"{at}", f"c{at}") for at in range(8))),
            "group 'g' has no member 'x', only 'c0', 'c1', 'c2', 'c3', 'c4' and 3 more",
        ),
    ],
)
def test_who_is_there_is_told(known: dict[str, Member], text: str) -> None:
    with pytest.raises(KeyError) as told:
        member_named("g", known, "x")
    assert told.value.args == (text,)
