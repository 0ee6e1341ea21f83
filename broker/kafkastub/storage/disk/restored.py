"""Another state in the place of what a data directory has. Whenever a process is killed, one of them is there whole.

.restoring   is being written; whoever finds it at the start removes it
.restored    is complete: from now on it is what the directory says. What was there before is removed
.moving      nothing is left of that: one by one its parts are moved to their places
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from .directory import DELETED, PRIVATE, STATE, is_partition, remove_tree, sync_path
from .transactional_ids import DIRECTORY

RESTORING: Final = ".restoring"
RESTORED: Final = ".restored"
MOVING: Final = ".moving"


def write(root: Path, parts: Iterable[tuple[str, Sequence[bytes | memoryview]]], *, sync: bool) -> None:
    """Write the files of a state, by their paths; `finish` brings it into place. OSError; then all is as it was."""
    place = root / RESTORING
    remove_tree(place)
    try:
        place.mkdir(0o700)
        folders = {place}
        for name, chunks in parts:
            path = place / name
            if path.parent not in folders:
                path.parent.mkdir()
                folders.add(path.parent)
            with path.open("wb") as file:
                if name == STATE:
                    path.chmod(PRIVATE)
                file.writelines(chunks)
            if sync:
                sync_path(path)
        for folder in folders if sync else ():
            sync_path(folder)
        place.rename(root / RESTORED)
    except BaseException:
        remove_tree(place)
        raise
    if sync:
        sync_path(root)


def finish(root: Path) -> None:
    """What was restored, if anything was, comes into its place; what is not complete goes. OSError."""
    remove_tree(root / RESTORING)
    restored, moving = root / RESTORED, root / MOVING
    if restored.exists():
        for entry in list(root.iterdir()):
            if is_partition(entry):
                remove_tree(entry)
        for name in (DELETED, DIRECTORY):
            remove_tree(root / name)
        (root / STATE).unlink(missing_ok=True)
        sync_path(root)
        restored.rename(moving)
        sync_path(root)
    if moving.exists():
        for entry in sorted(moving.iterdir()):
            entry.rename(root / entry.name)
        moving.rmdir()
        sync_path(root)
