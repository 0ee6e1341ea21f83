"""What the commands share."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

REFUSED = 2
"""Exit status where what was asked for makes no sense; the reason is on standard error."""


def refuse(reason: str) -> int:
    """Say why on standard error; gives the exit status."""
    print(f"kafkastub: {reason}", file=sys.stderr)
    return REFUSED
