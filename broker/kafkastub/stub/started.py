"""The stubs that were started, and the functions to call before one of them is closed.

It imports nothing, so that a listener can register before the first stub.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from weakref import WeakKeyDictionary

BEFORE_CLOSE: Final[list[Callable[[Any], None]]] = []
"""Called with a `KafkaStub` that runs and is to be closed: afterwards little is left to report."""

STARTED: Final[WeakKeyDictionary[Any, datetime]] = WeakKeyDictionary()
"""The stubs and proxies that were started and are still referenced, in this order, with their start times.

The report of a failed test covers them.
"""
