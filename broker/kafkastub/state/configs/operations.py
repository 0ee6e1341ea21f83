"""The operations of IncrementalAlterConfigs, and what those on lists do."""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    """Kafka: ``AlterConfigOp.OpType``."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


Change = tuple[str, int, str | None]
"""Name, operation, value."""


def edited_list(current: str, operation: int, value: str) -> str:
    """A comma separated list with items appended (each once) or taken away."""
    items = [item for item in current.split(",") if item]
    for item in value.split(","):
        if operation == Op.APPEND and item not in items:
            items.append(item)
        elif operation == Op.SUBTRACT and item in items:
            items.remove(item)
    return ",".join(items)
