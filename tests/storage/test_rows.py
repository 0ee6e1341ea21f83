"""Rows that are shared are lists to whoever reads them, and nobody's appends are another one's."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub.storage import rows
from kafkastub.storage.rows import SharedRows, split

FEW = 3


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copied are three, and five parts become one: more of everything happens in few steps."""
    monkeypatch.setattr(rows, "COPIED_UP_TO", FEW)
    monkeypatch.setattr(rows, "_MOST_PARTS", 5)


def check(shared: rows.Rows[int], plain: list[int]) -> None:
    assert len(shared) == len(plain)
    assert list(shared) == plain
    assert bool(shared) == bool(plain)
    for index in range(-len(plain), len(plain)):
        assert shared[index] == plain[index]
    for start in range(len(plain) + 1):
        assert shared[start:] == plain[start:]
        assert shared[start : start + 4] == plain[start : start + 4]
        assert shared[:start] == plain[:start]
    assert shared[::2] == plain[::2]
    for value in (plain[0] - 1, *plain, plain[-1] + 1) if plain else ():
        assert bisect_left(shared, value) == bisect_left(plain, value)
        assert bisect_right(shared, value) == bisect_right(plain, value)


@given(
    st.lists(st.one_of(st.integers(1, 9), st.just("copy"), st.tuples(st.just("back"), st.integers(0, 9))), max_size=30)
)
def test_copies_grow_apart(acts: list[object]) -> None:
    """One is appended to; copies of it are kept, and now and then one of them is gone on with instead."""
    live: rows.Rows[int] = []
    plain: list[int] = []
    kept: list[tuple[rows.Rows[int], list[int]]] = []
    for act in acts:
        if act == "copy":
            live = split(live)
            kept.append((live.copy(), plain.copy()))
        elif isinstance(act, tuple):
            if kept:
                saved, there = kept[act[1] % len(kept)]
                live, plain = split(saved).copy(), there.copy()
        else:
            assert isinstance(act, int)
            for _ in range(act):
                following = plain[-1] + 2 if plain else 0
                live.append(following)
                plain.append(following)
        check(live, plain)
    for saved, there in kept:
        check(saved, there)


def test_what_is_not_there_is_no_row() -> None:
    shared = SharedRows(([1, 2],), [3])
    for index in (3, -4):
        with pytest.raises(IndexError):
            shared[index]
