"""Handlers and fast paths, loaded behind the ready line of a process that serves.

They take a fifth of a start, and the first client asks for a few of them. One at a time is loaded, a millisecond or
two, whenever nobody else has anything to do; one that a request asks for before its turn is loaded at once. To read a
module takes a file descriptor, which is kept for that until all are there: a process whose descriptors are used up
before answers all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Final

from kafkastub.handlers.offers import OFFERS, USUAL
from kafkastub.handlers.registry import Registration, is_loaded, registration, registrations
from kafkawire.api import ApiKey

_FAST_PATHS: Final = "kafkastub.layers.fast_paths.table"


def load_all() -> None:
    """All of it now."""
    registrations()
    import_module(_FAST_PATHS)


class LoadedLater(Mapping[ApiKey, Registration]):
    """Every API that is served. `load_next` loads what is left, a part at a time; who looks one up has it loaded."""

    def __init__(self) -> None:
        self._left = [*USUAL, *(key for key in OFFERS if key not in USUAL)]
        self._left.reverse()
        self._has_fast_paths = False
        self._spare: int | None = None
        self._take_spare()

    def __getitem__(self, key: ApiKey) -> Registration:
        if key not in OFFERS:
            raise KeyError(key)
        if not self._has_fast_paths:  # a route is made of both
            self._load(lambda: import_module(_FAST_PATHS))
            self._has_fast_paths = True
        if not is_loaded(key):
            self._load(lambda: registration(key))
        return registration(key)

    def __contains__(self, key: object) -> bool:
        return key in OFFERS

    def __iter__(self) -> Iterator[ApiKey]:
        return iter(OFFERS)

    def __len__(self) -> int:
        return len(OFFERS)

    def load_next(self) -> bool:
        """Load a part of what is left; whether that was the last one."""
        while self._left:
            key = self._left[-1]
            is_new = not is_loaded(key)
            self[key]
            self._left.pop()
            if is_new:
                break
        if not self._left:
            self.close()
        return not self._left

    def close(self) -> None:
        """Keep no descriptor any more."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

    def _load(self, load: Callable[[], object]) -> None:
        if self._spare is None:
            load()
            return
        self.close()
        try:
            load()
        finally:
            self._take_spare()

    def _take_spare(self) -> None:
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:  # somebody else has taken it meanwhile
            self._spare = None
