"""Which tables a run is asked for, and whether they can be made: known before anything is read."""

from __future__ import annotations

from typing import Final

from kafkastub_pipeline.errors import PipelineError
from kafkastub_pipeline.settings import NAMES_OF_SEVERAL, Settings
from kafkastub_pipeline.tables.columns import TABLES

NAMES: Final = f"there are {', '.join(TABLES)}; and " + "; and ".join(
    f"{name} for {', '.join(several[:-1])} and {several[-1]}" for name, several in NAMES_OF_SEVERAL.items()
)

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
    if "protocol_coverage" in named and settings.journal is None:
        raise PipelineError("--tables: protocol_coverage is made of the journal; give --journal, or leave it out")
    if "share_partitions" in named and settings.bootstrap_servers is None:
        raise PipelineError(
            "--tables: share_partitions is made of what a cluster has in __share_group_state; give --bootstrap-servers,"
            " or leave it out"
        )


def check_shares(settings: Settings, readable: bool) -> None:
    """Raises PipelineError where `share_partitions` is asked for by its name, and its topic may not be read."""
    if not readable and "share_partitions" in (settings.named or ()):
        raise PipelineError(
            "--tables: share_partitions is made of the topic __share_group_state, on which the user needs the"
            " permissions Describe and Read; give them, or leave it out"
        )


def _shown(name: str) -> str:
    return repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…")
