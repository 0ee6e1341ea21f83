"""The check behind a test: what an application did to its records, though the test's assertions hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kafkastub import KafkaStub

Checked = list[tuple["KafkaStub", tuple[str, ...]]]


def fail(checked: Checked) -> None:
    """Fail the test where a guarantee was not kept."""
    for stub, names in checked:
        verdict = stub.check(*names)
        if not verdict.ok:
            pytest.fail(f"the test's assertions hold, its application does not keep the guarantees: {verdict}", False)


def tell(item: pytest.Item, checked: Checked) -> None:
    """The test has failed: show the findings, which may be the reason."""
    for stub, names in checked:
        verdict = stub.check(*names)
        if not verdict.ok:
            item.add_report_section("call", "guarantees", str(verdict))
