from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.launcher.launching import Launching


@pytest.fixture(scope="package")
def launcher() -> Iterator[Launching]:
    """One for all tests, as a suite has it: none of them may depend on which stubs others have."""
    with Launching() as running:
        yield running
