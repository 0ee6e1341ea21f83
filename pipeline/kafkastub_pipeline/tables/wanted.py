"""Which tables a run is asked for, and whether they can be made: known before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.settings import NAMES_OF_SEVERAL, Settings
from kafkastub_pipeline.tables.columns import TABLES

NAMES: Final = f"there are {', '.join(TABLES)}; and " + "; and ".join(
    f"{name} for {', '.join(several[:-1])} and {several[-1]}" for name, several in NAMES_OF_SEVERAL.items()
)

OF_A_CLUSTER: Final = {
    "share_partitions": "__share_group_state",
    "transactions": "__transaction_state",
    "held_partitions": "__transaction_state",
    "transaction_whatif": "__transaction_state",
}
"""Tables that are made of another topic than `__consumer_offsets`."""
_MOST: Final = 5
_LONGEST: Final = 80
"""Of names that there are not so many, and so many letters of each, are said again."""


def check_tables(settings: Settings) -> None:
    """Raises PipelineError: no table is named, one that there is not, or one that cannot be made of what is given.

    Where none is named, tables that cannot be made are left out, and nothing is wrong.
    """
    named = settings.named
    if named is None:
        return
    if not any(named):
        raise PipelineError(f"--tables names no table; {NAMES}")
    unknown = [name for name in named if name not in TABLES]
    if unknown:
        raise PipelineError(f"--tables: there is no table {' or '.join(map(_shown, unknown[:_MOST]))}; {NAMES}")
    for table in ("protocol_coverage", "guarantees"):
        if table in named and settings.journal is None:
            raise PipelineError(f"--tables: {table} is made of the journal; give --journal, or leave it out")
    for table, (option, tried) in tried_for(settings).items():
        if table in named and not tried:
            raise PipelineError(f"--tables: {table} tries other timeouts; give {option}, or leave it out")
    if "lock_whatif" in named and settings.bootstrap_servers is None and settings.journal is None:
        raise PipelineError(
            "--tables: lock_whatif is made of the journal, and of what a cluster has in __share_group_state; give"
            " --journal or --bootstrap-servers, or leave it out"
        )
    for table, topic in OF_A_CLUSTER.items():
        if table in named and settings.bootstrap_servers is None:
            raise PipelineError(
                f"--tables: {table} is made of what a cluster has in {topic}; give --bootstrap-servers, or leave it out"
            )


def tried_for(settings: Settings) -> dict[str, tuple[str, Sequence[int]]]:
    """Tables that are made of timeouts to try: the option that has them, and what it has."""
    return {
        "transaction_whatif": ("--transaction-timeout-ms", settings.transaction_timeouts_ms),
        "lock_whatif": ("--record-lock-duration-ms", settings.lock_durations_ms),
        "session_whatif": ("--session-timeout-ms", settings.session_timeouts_ms),
    }


def check_readable(settings: Settings, unreadable: Collection[str]) -> None:
    """Raises PipelineError where a table is asked for by its name, and its topic may not be read."""
    for table, topic in OF_A_CLUSTER.items():
        if topic in unreadable and table in (settings.named or ()):
            raise PipelineError(
                f"--tables: {table} is made of the topic {topic}, on which the user needs the permissions Describe and"
                " Read; give them, or leave it out"
            )


def _shown(name: str) -> str:
    return repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")
