"""`kafkastub groups` takes its action as kafka-consumer-groups.sh does, too."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run


@pytest.mark.parametrize(
    ("kafkas", "ours"),
    [
        (("--describe", "--state", "--group", "g"), ("describe", "--state", "--group", "g")),
        (("--state", "--group", "g", "--describe"), ("describe", "--state", "--group", "g")),
        (("--list", "--type"), ("list", "--type")),
    ],
)
def test_an_action_may_be_an_option(kafkas: tuple[str, ...], ours: tuple[str, ...]) -> None:
    with KafkaStub(topics=["orders"]) as stub:
        stub.commit("g", {("orders", 0): 0})
        of = ("--bootstrap-server", stub.bootstrap_servers)
        asked = run("groups", *kafkas, *of)
        assert (asked.status, "g " in asked.out) == (0, True)
        assert asked == run("groups", *ours, *of)


def test_what_is_no_action_is_refused() -> None:
    assert run("groups", "--describes").status == 2
