"""`kafkastub child`: the stub of a Python program that has started this command (`KafkaStub(process=COMMAND)`)."""

from __future__ import annotations

import argparse
import os
import socket
from typing import TYPE_CHECKING

from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser. It is not for people, and no help lists it."""
    child = commands.add_parser("child", description='Started by KafkaStub(process="kafkastub"), and by nobody else.')
    child.set_defaults(run=_child)


def _child(arguments: argparse.Namespace) -> int:
    if not _is_given_by_a_parent():
        return refuse('kafkastub child is started by KafkaStub(process="kafkastub"), and by nobody else')
    from kafkastub.stub.process import serve_parent

    serve_parent()
    return 0


def _is_given_by_a_parent() -> bool:
    """Whether standard input is one of a pair of sockets.

    What comes through it is unpickled, so a connection that anybody could have made, as inetd hands it on, is refused.
    """
    try:
        with socket.socket(fileno=os.dup(0)) as given:
            return given.family == socket.AF_UNIX and given.getpeername() == given.getsockname() == ""
    except OSError:
        return False
