"""The cases that Apache Kafka plays: all of them, or every nth with `make oracle EVERY=n`."""

from __future__ import annotations

from kafkastub_conformance.model import Run
from kafkastub_conformance.registry import catalogue
from tests.oracle.sample import EVERY

CHOSEN = {case.id for case in catalogue()[::EVERY]}


def is_chosen(run: Run) -> bool:
    return run.case.id in CHOSEN
