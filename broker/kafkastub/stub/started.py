"""Stubs that were started, and who wants to be told before one of them is closed. It loads nothing, so that one can
listen before there is any.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from weakref import WeakKeyDictionary

BEFORE_CLOSE: Final[list[Callable[[Any], None]]] = []
"""Called with a `KafkaStub` that runs and is to be closed: afterwards there is little to be told of it."""

STARTED: Final[WeakKeyDictionary[Any, datetime]] = WeakKeyDictionary()
"""Those that were started, when by the machine's clock, and are still known to somebody, in this order: a test that
fails tells of them. Proxies are among them.
"""
