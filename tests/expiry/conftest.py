"""The JVM of the clients' tests serves here too."""

from __future__ import annotations

from tests.clients.conftest import jvm

__all__ = ["jvm"]
