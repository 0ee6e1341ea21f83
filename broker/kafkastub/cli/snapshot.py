"""`kafkastub snapshot`: the state of a running stub kept, put back, and as a file, over the control port."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from kafkastub.cli import output, snapshot_of_cluster
from kafkastub.cli.control import Control, ControlError, action

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_OF_FILES: Final = "file"
"""What a snapshot is called for as long as it goes to a file or comes from one."""
_PART: Final = 1 << 20
"""Bytes that are read at a time."""
_COLUMNS: Final = {"ID": 24, "BROKER TIME": 26, "TOPICS": 8, "RECORDS": 0}


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    snapshot = commands.add_parser("snapshot", help="take, save and restore snapshots of a stub's state")
    actions = snapshot.add_subparsers(required=True, metavar="ACTION")
    action(actions, "list", "list the snapshots in the stub's memory", _list)
    parser = action(actions, "take", "take a snapshot of the present state, or of a real cluster", _take)
    parser.add_argument(
        "id",
        nargs="?",
        metavar="ID|FILE",
        help="id of the snapshot (default snapshot-1, snapshot-2 …); with --from, the file to write",
    )
    snapshot_of_cluster.add_options(parser)
    parser = action(actions, "restore", "restore a snapshot or a file; this disconnects all clients", _restore)
    parser.add_argument("what", metavar="ID|FILE", help="id of a snapshot, or the path of a file")
    parser = action(actions, "save", "write the present state, or a snapshot, to a file", _save)
    parser.add_argument("file", metavar="FILE", help="file to write, for `kafkastub serve --snapshot FILE`")
    parser.add_argument("--id", metavar="ID", help="write this snapshot instead of the present state")
    parser = action(actions, "delete", "delete a snapshot", _delete)
    parser.add_argument("id", metavar="ID", help="id of the snapshot")


def _path(snapshot_id: str, behind: str = "") -> str:
    return f"/v1/snapshots/{quote(snapshot_id, safe='')}{behind}"


def _list(arguments: argparse.Namespace, control: Control) -> int:
    found = control.ask("GET", "/v1/snapshots")["snapshots"]
    return output.listed(arguments.output, found, "No snapshot is kept.", _COLUMNS, _row)


def _row(one: Any) -> tuple[object, ...]:
    return one["id"], one["now"], len(one["topics"]), one["records"]


def _take(arguments: argparse.Namespace, control: Control) -> int:
    return _show(arguments, control.ask("POST", "/v1/snapshots", {"id": arguments.id}), "Kept as {id}.")


def _restore(arguments: argparse.Namespace, control: Control) -> int:
    what: str = arguments.what
    kept = [one["id"] for one in control.ask("GET", "/v1/snapshots")["snapshots"]]
    if what in kept:
        return _show(arguments, control.ask("POST", _path(what, "/restore")), "Restored {id}.")
    if not Path(what).is_file():
        raise ValueError(f"{what!r} is neither a snapshot that is kept ({', '.join(kept) or 'none is'}) nor a file")
    name = _free(kept)
    try:
        with Path(what).open("rb") as file:
            control.send("PUT", _path(name, "/file"), file)
    except OSError as error:
        raise ValueError(f"cannot read {what}: {error.strerror}") from None
    try:
        said = control.ask("POST", _path(name, "/restore"))
    finally:
        _forget(control, name)
    return _show(arguments, {**said, "id": what}, "Restored {id}.")


def _save(arguments: argparse.Namespace, control: Control) -> int:
    file = Path(arguments.file)
    name: str | None = arguments.id
    if name is None:
        kept = [one["id"] for one in control.ask("GET", "/v1/snapshots")["snapshots"]]
        name = control.ask("POST", "/v1/snapshots", {"id": _free(kept)})["id"]
    try:
        with control.opened("GET", _path(name, "/file")) as response, _written(file) as write:
            while part := response.read(_PART):
                write(part)
    finally:
        if arguments.id is None:
            _forget(control, name)
    return _show(arguments, {"file": str(file)}, "Written to {file}.")


@contextmanager
def _written(file: Path) -> Iterator[Callable[[bytes], None]]:
    """A file that is for its owner alone. Raises ValueError: it is no fault of the control port's."""

    def write(part: bytes) -> None:
        try:
            target.write(part)
            target.flush()
        except OSError as error:
            raise _unwritable(file, error) from None

    try:
        target = file.open("wb")
        file.chmod(0o600)
    except OSError as error:
        raise _unwritable(file, error) from None
    with target:
        yield write


def _unwritable(file: Path, error: OSError) -> ValueError:
    return ValueError(f"cannot write {file}: {error.strerror}")


def _delete(arguments: argparse.Namespace, control: Control) -> int:
    return _show(arguments, control.ask("DELETE", _path(arguments.id)), "Deleted {deleted}.")


def _free(kept: list[str]) -> str:
    """A name that is not in use."""
    return next(name for number in range(len(kept) + 1) if (name := f"{_OF_FILES}-{number}") not in kept)


def _forget(control: Control, name: str) -> None:
    try:
        control.ask("DELETE", _path(name))
    except ControlError as error:
        output.warn(f"the snapshot {name} is kept: {error}")


def _show(arguments: argparse.Namespace, said: dict[str, Any], words: str) -> int:
    return output.print_result(arguments.output, said, words.format_map(said))
