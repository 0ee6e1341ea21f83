"""What a run of the catalogue has found, as tests ask for it."""

from __future__ import annotations

from kafkastub_conformance.model import Outcome, Status
from kafkastub_conformance.reports import text


def told(outcome: Outcome) -> str:
    return "\n".join(line for result in outcome.bad for line in text.failure(result))


def skipped(outcome: Outcome) -> dict[str, list[str]]:
    """The runs that were skipped, by reason."""
    found: dict[str, list[str]] = {}
    for result in outcome.results:
        if result.status is Status.SKIPPED:
            found.setdefault(result.reason, []).append(result.run.id)
    return found
