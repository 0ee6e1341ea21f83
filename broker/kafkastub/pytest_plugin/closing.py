"""Listens for stubs that an exception closes. It loads nothing before that happens."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub import KafkaStub


def listen() -> None:
    """From now on, if stubs are loaded at all."""
    started = sys.modules.get("kafkastub.stub.started")
    if started is not None and _note not in started.BEFORE_CLOSE:
        started.BEFORE_CLOSE.append(_note)


def _note(stub: KafkaStub) -> None:
    if sys.exc_info()[1] is not None:
        from kafkastub.pytest_plugin.failure import note_causes

        note_causes(stub)
