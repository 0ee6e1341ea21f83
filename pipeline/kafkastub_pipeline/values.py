"""Values of the command's options, from text; each refuses what it cannot be in a sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, date, datetime

from kafkastub_pipeline.maven import kafka, malformed


def negatives_joined(arguments: Sequence[str]) -> list[str]:
    """`--retention-minutes -1,60` as argparse reads it: with an equals sign, for it looks like an option."""
    found: list[str] = []
    for one in arguments:
        if found and found[-1] == "--retention-minutes" and one[:1] == "-" and one[1:2].isdigit():
            found[-1] += f"={one}"
        else:
            found.append(one)
    return found


def pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return name, value


def retentions(text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(one) for one in text.split(","))
    except ValueError:
        found = ()
    if not found or any(one == 0 or one < -1 or one > 2**31 - 1 for one in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of minutes such as 10080,1440; -1 means for ever")
    return found


def timeouts(text: str) -> tuple[int, ...]:
    """Raise argparse.ArgumentTypeError for what is not a list of milliseconds that Kafka's settings can have."""
    found = tuple(int(one) if one.isascii() and one.isdigit() else 0 for one in text.split(","))
    if any(not 1 <= one <= 2**31 - 1 for one in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of milliseconds such as 60000,900000")
    return found


def moment(text: str) -> datetime | str:
    if text == "log":
        return text
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither `log` nor a time such as 2026-01-31T12:00:00Z") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-01-31") from None


def day_or_now(text: str) -> date | str:
    return text if text == "now" else day(text)


def packages(text: str) -> str:
    wrong = malformed(text)
    if wrong is not None:
        raise argparse.ArgumentTypeError(f"{wrong!r} is not GROUP:ARTIFACT:VERSION, such as {kafka()}")
    return text


def positive(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 2**62:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def days(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 36_500:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of days from 0 to 36500, such as 7 or 0.5")
    return found


def rate(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate above 0, such as 100 or 0.5")
    return found


def several(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 2 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 2 to 1000000")
    return int(text)


def natural(text: str) -> int:
    if not text.isdigit() or int(text) > 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1000000")
    return int(text)
