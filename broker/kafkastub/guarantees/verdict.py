"""The result of a check: findings, notices, what is undecided, and the number of requests it looked at."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from kafkastub.guarantees.catalog import CATALOG
from kafkastub.guarantees.findings import Finding
from kafkastub.printable import printable

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_TOLD: Final = 20
_MOST_STEPS: Final = 16
_GIVEN: Final = "given: a fetch response had the records. The client may not have processed them yet."
_NOT_CHECKED: Final = "not checked: whether the client processed the records before it committed their offsets"


class GuaranteeBroken(AssertionError):
    """A guarantee was broken. The text is the verdict."""


@dataclass(frozen=True)
class Verdict:
    """What an application did to its records, where requests and answers show it (docs/guarantees.md)."""

    findings: tuple[Finding, ...]
    """Guarantees that were broken."""
    notices: tuple[Finding, ...]
    """Violations of what Kafka does not promise, or that may be intended, such as records delivered again."""
    undecided: tuple[str, ...]
    """What cannot be decided, and why; one sentence each."""
    looked_at: Mapping[str, int] = field(default_factory=dict)
    """The numbers of requests, batches, records, commits and transactions that were checked."""

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def of(self, guarantee: str) -> tuple[Finding, ...]:
        """Return the findings and notices of one guarantee. Raises KeyError for an unknown name."""
        if guarantee not in CATALOG:
            raise KeyError(f"there is no guarantee {guarantee!r}: there are {', '.join(CATALOG)}")
        return tuple(one for one in (*self.findings, *self.notices) if one.guarantee == guarantee)

    def raise_for_findings(self) -> None:
        """Raise GuaranteeBroken if there are findings."""
        if self.findings:
            raise GuaranteeBroken(str(self))

    def __str__(self) -> str:
        many = len(self.findings)
        head = "no broken guarantee was found" if not many else f"{many} finding{'s' if many > 1 else ''}"
        if self.undecided:
            head += f", {len(self.undecided)} undecided"
        if not self.looked_at.get("requests"):
            head = "nothing was looked at: no request has passed"
        lines = [f"{head} ({', '.join(_counted(number, what) for what, number in self.looked_at.items())})"]
        for one in self.findings[:_MOST_TOLD]:
            lines += ["", *_told(one)]
        if many > _MOST_TOLD:
            lines += ["", f"… {many - _MOST_TOLD} more findings"]
        lines += _noticed(self.notices)
        if self.undecided:
            lines += ["", "undecided:", *(f"  {one}" for one in self.undecided[:_MOST_TOLD])]
        if any("given" in step.what for one in self.findings[:_MOST_TOLD] for step in one.story):
            lines += ["", _GIVEN]
        if self.ok and self.looked_at.get("commits"):
            lines += ["", _NOT_CHECKED]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return everything, in the form of the control port's JSON."""
        return {
            "ok": self.ok,
            "findings": [_json(one) for one in self.findings],
            "notices": [_json(one) for one in self.notices],
            "undecided": list(self.undecided),
            "looked_at": dict(self.looked_at),
        }

    def to_junit(self) -> str:
        """Return the verdict as JUnit XML, with a test case for each guarantee that fails a check."""
        broken = Counter(one.guarantee for one in self.findings)
        names = [one.name for one in CATALOG.values() if one.fails or one.name in broken]
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="kafkastub check" tests="{len(names)}" failures="{len(broken)}">',
        ]
        for name in names:
            found = [one for one in self.findings if one.guarantee == name]
            lines.append(f'  <testcase classname="guarantees" name={quoteattr(name)}>')
            if found:
                text = escape("\n\n".join("\n".join(_told(one)) for one in found[:_MOST_TOLD]))
                lines.append(f"    <failure message={quoteattr(found[0].cause)}>{text}</failure>")
            lines.append("  </testcase>")
        return "\n".join([*lines, "</testsuite>", ""])

    def with_more(self, findings: Iterable[Finding], undecided: Iterable[str] = ()) -> Verdict:
        """Return the verdict with more findings, those of relations."""
        return Verdict((*self.findings, *findings), self.notices, (*self.undecided, *undecided), self.looked_at)


def _json(one: Finding) -> dict[str, Any]:
    told = one.to_json()
    of = CATALOG[one.guarantee]
    told["jepsen"] = of.jepsen or None
    told["advice"] = {"java": of.java, "librdkafka": of.librdkafka, "franz-go": of.franz}
    return told


def _counted(number: int, what: str) -> str:
    """`2 batches written`, `1 batch written`."""
    many, _, rest = what.partition(" ")
    one = many.removesuffix("es") if many == "batches" else many.removesuffix("s")
    return f"{number} {one if number == 1 else many}{' ' + rest if rest else ''}"


def _told(one: Finding) -> list[str]:
    of = CATALOG[one.guarantee]
    group = f" of group {printable(one.group, 100)}" if one.group is not None else ""
    place = f": {one.place}" if one.place else ""
    also = f" (Jepsen: {of.jepsen})" if of.jepsen else ""
    lines = [f"{of.title}{place}{group}{also}", f"  {one.cause}"]
    if one.entries:
        entries = f"entr{'y' if len(one.entries) == 1 else 'ies'} {', '.join(map(str, one.entries))}"
        lines.append(f"  {_clock(one.broker_ms)}, shown by journal {entries}")
    lines += timeline(one)
    lines += [f"  Java:       {of.java}", f"  librdkafka: {of.librdkafka}", f"  franz-go:   {of.franz}"]
    return lines


def timeline(one: Finding) -> list[str]:
    """Return what happened to the partition, one line for each step. The steps of the finding are marked."""
    if not one.story:
        return []
    last = max((n for n, step in enumerate(one.story) if step.sequence <= max(one.entries, default=-1)), default=0)
    steps = one.story[max(0, last + 3 - _MOST_STEPS) : last + 3]
    wide = max(len(step.what) for step in steps)
    who = max(len(step.who) for step in steps)
    lines = []
    for step in steps:
        offsets = "" if step.start < 0 else str(step.start) if step.end < 0 else f"{step.start}-{step.end - 1}"
        mark = ">" if step.sequence in one.entries else " "
        lines.append(
            f"  {mark} {step.sequence:>6} {_clock(step.broker_ms)} {step.what:<{wide}} {offsets:<12} "
            f"{printable(step.who, 100):<{who}}".rstrip()
        )
    return lines


def _noticed(notices: tuple[Finding, ...]) -> list[str]:
    """One line for all that say the same."""
    if not notices:
        return []
    lines = ["", "noticed:"]
    same: dict[tuple[str, str, str | None], list[Finding]] = {}
    for one in notices:
        where = "" if one.partition is None else one.partition[0]
        same.setdefault((one.guarantee, where, one.group), []).append(one)
    for (name, where, group), found in list(same.items())[:_MOST_TOLD]:
        records = sum(end - start for one in found for start, end in one.offsets)
        times = f", {len(found)} times" if len(found) > 1 else ""
        many = f" {records} records{times}" if records else times
        whose = f" by group {printable(group, 100)}" if group else ""
        lines.append(f"  {CATALOG[name].title}: {where}{many}{whose}: {found[-1].cause}")
    return lines


def _clock(ms: int) -> str:
    try:
        at = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return f"{at:%H:%M:%S}.{ms % 1000:03}"


def to_text(verdict: Verdict, as_json: bool) -> str:
    """Return the verdict as the text of a command."""
    return json.dumps(verdict.to_json(), indent=2) if as_json else str(verdict)
