"""A pytest of its own for each test, on a small test file: the plugin as a project sees it."""

from __future__ import annotations

import pytest

FIRST = "from confluent_kafka.admin import AdminClient\nimport pytest\n\n"
TOPICS = """
def topics(stub):
    listed = AdminClient({"bootstrap.servers": stub.bootstrap_servers}).list_topics(timeout=60).topics
    return {name: len(topic.partitions) for name, topic in listed.items()}
"""


PLUGINS = ("kafkastub.pytest_plugin", "pytest_asyncio.plugin", "anyio.pytest_plugin")
"""Loaded by name: what else is installed here takes two seconds to import, each time."""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KAFKA_STUB_BOOTSTRAP", raising=False)
    monkeypatch.delenv("CI", raising=False)
    named = [option for plugin in PLUGINS for option in ("-p", plugin)]

    def run(source: str, *arguments: str, ini: str = "", as_installed: bool = False) -> pytest.RunResult:
        pytester.makeini(f"[pytest]\nasyncio_default_fixture_loop_scope = function\n{ini}")
        pytester.makepyfile(FIRST + TOPICS + source)
        if not as_installed:
            monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        how = ["-p", "no:randomly"] if as_installed else named
        return pytester.runpytest_subprocess(*how, "-W", "error", "-rs", *arguments)

    return run
