"""`kafkastub child`: the stub of a Python program that has started this command (`KafkaStub(process=COMMAND)`)."""

from __future__ import annotations

import argparse
import os
import stat
from typing import TYPE_CHECKING

from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands


def add_to(commands: Commands) -> None:
    """Add the command to the parser. It is not for people, and no help lists it."""
    child = commands.add_parser("child", description='Started by KafkaStub(process="kafkastub"), and by nobody else.')
    child.set_defaults(run=_child)


def _child(arguments: argparse.Namespace) -> int:
    if not stat.S_ISSOCK(os.fstat(0).st_mode):
        return refuse('kafkastub child is started by KafkaStub(process="kafkastub"), and by nobody else')
    from kafkastub.stub.process import serve_parent

    serve_parent()
    return 0
