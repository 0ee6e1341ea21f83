"""A pytest of its own for each test, on a small test file: the plugin as a project sees it."""

from __future__ import annotations

import pytest

FIRST = "from confluent_kafka.admin import AdminClient\nimport pytest\n\n"
TOPICS = """
def topics(stub):
    listed = AdminClient({"bootstrap.servers": stub.bootstrap_servers}).list_topics(timeout=60).topics
    return {name: len(topic.partitions) for name, topic in listed.items()}
"""


PLUGINS = ("kafkastub.pytest_plugin",)
ASYNC_PLUGINS = ("pytest_asyncio.plugin", "anyio.pytest_plugin")
"""Loaded by name: what else is installed here takes two seconds to import, each time."""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("KAFKA_STUB_BOOTSTRAP", raising=False)
    monkeypatch.delenv("CI", raising=False)

    def run(source: str, *arguments: str, ini: str = "", as_installed: bool = False) -> pytest.RunResult:
        has_coroutines = as_installed or "async def" in source
        scope = "asyncio_default_fixture_loop_scope = function\n" if has_coroutines else ""
        pytester.makeini(f"[pytest]\n{scope}{ini}")
        pytester.makepyfile(FIRST + TOPICS + source)
        if not as_installed:
            monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        plugins = (*PLUGINS, *ASYNC_PLUGINS) if has_coroutines else PLUGINS
        named = [option for plugin in plugins for option in ("-p", plugin)]
        how = ["-p", "no:randomly"] if as_installed else named
        return pytester.runpytest_subprocess(*how, "-W", "error", "-rs", *arguments)

    return run
