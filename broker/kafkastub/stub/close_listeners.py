"""Who wants to be told of stubs. It loads nothing, so that one can listen before there is any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

BEFORE_CLOSE: Final[list[Callable[[Any], None]]] = []
"""Called with a `KafkaStub` that runs and is to be closed: afterwards there is little to be told of it."""
