"""What a stub is called where a test's failure is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafkastub import KafkaStub


def name_of(stub: KafkaStub, fixtures: Mapping[KafkaStub, str]) -> str:
    """Its fixture's name, or where it is or was."""
    return fixtures.get(stub) or f"KafkaStub {stub.was_at}"
