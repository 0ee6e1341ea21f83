"""What the commands say to people. Nothing is printed past this module, but for the line that shows progress.

Names are chosen by clients, and what Spark tells has them in it: on a terminal they could colour it, ring, or write its
title. There what cannot be printed is escaped; in a pipe or a file it stays as it is.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO


def say(line: object) -> None:
    """A line on standard output."""
    print(fit(str(line), sys.stdout))


def complain(line: object) -> None:
    """A line on standard error."""
    print(fit(str(line), sys.stderr), file=sys.stderr)


def complain_in_lines(text: str) -> None:
    """Several of them: a traceback."""
    for line in text.rstrip("\n").split("\n"):
        complain(line)


class Lines(logging.Formatter):
    """Of a log that goes to standard error."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(fit(line, sys.stderr) for line in super().format(record).split("\n"))


def fit(line: str, stream: TextIO) -> str:
    """A line as this stream may have it."""
    if line.isprintable() or not stream.isatty():
        return line
    return "".join(one if one.isprintable() else one.encode("unicode_escape", "replace").decode() for one in line)
