"""docs/incident.md: its commands and examples, one after the other, on a stub in the place of the cluster."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import run
from tests.docs.generated import DOCS
from tests.process.serving import Serving

GUIDE = (DOCS / "incident.md").read_text()
TAKE, SERVE = re.findall(r"```text\nkafkastub (.*?)\n```", GUIDE)
FROM_CLUSTER, TEST, TIMERS = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("client.properties").write_text("client.id=somebody\n")
    with KafkaStub({"orders": 1}) as cluster:
        cluster.produce("orders", "value")
        cluster.commit("billing", {("orders", 0): 0})
        done = run(*shlex.split(TAKE.replace("kafka-1:9092,kafka-2:9092", cluster.bootstrap_servers)))
        assert (done.status, done.err) == (0, "")
        names: dict[str, object] = {}
        exec(FROM_CLUSTER.replace("kafka-1:9092", cluster.bootstrap_servers), names)
        assert capsys.readouterr().out == ""
        asked = {one.api for one in cluster.journal if one.client_id in ("kafkastub-snapshot", "somebody")}
        assert asked <= {
            "ApiVersions", "DescribeAcls", "DescribeClientQuotas", "DescribeConfigs", "DescribeProducers", "Fetch",
            "ListConfigResources", "ListOffsets", "ListPartitionReassignments", "Metadata",
        }  # fmt: skip
    exec(TEST, names)
    names["test_billing_survives_the_weekend"]()  # type: ignore[operator]
    with KafkaStub(snapshot="incident.kafkastub") as stub:
        exec(TIMERS, {"stub": stub})
    with Serving(*shlex.split(SERVE)[1:]) as process:
        assert process.servers


@pytest.mark.parametrize("option", re.findall(r"^\| `(--[a-z-]+)", GUIDE, re.MULTILINE))
def test_its_options_are_the_commands(option: str) -> None:
    assert option in run("snapshot", "take", "--help").out
