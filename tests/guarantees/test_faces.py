"""Where a verdict can be had: of a stub, a proxy, a journal on disk, over HTTP, by the command line."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafkastub import GuaranteeBroken, KafkaProxy, KafkaStub, Verdict
from kafkastub.cli import main
from tests.waiting import SECONDS

SKIPPED = "skipped orders-0 offsets 2-4"


def skip(servers: str) -> None:
    """Write five records, read from the third on as a group that has committed nothing, and commit all."""
    producer = Producer({"bootstrap.servers": servers})
    for number in range(10):
        producer.produce("orders", str(number), partition=0)
    producer.flush(SECONDS)
    settings = {"bootstrap.servers": servers, "group.id": "billing", "enable.auto.commit": False}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("orders", 0, 5)])
    assert consumer.consume(5, SECONDS)
    consumer.commit(offsets=[TopicPartition("orders", 0, 2)], asynchronous=False)
    consumer.commit(offsets=[TopicPartition("orders", 0, 10)], asynchronous=False)
    consumer.close()


def told(verdict: Verdict) -> list[str]:
    return [f"{one.guarantee} {one.place}" for one in verdict.findings]


def test_a_stub_that_was_asked_late_reads_its_journal():
    with KafkaStub(topics={"orders": 1}) as stub:
        skip(stub.bootstrap_servers)
        assert told(stub.check()) == [SKIPPED]
        with pytest.raises(GuaranteeBroken, match="past records that the group was never given"):
            stub.check().raise_for_findings()
        assert stub.check(ignoring=["skipped"]).ok
        assert stub.check("left behind").ok
    assert told(stub.check()) == [SKIPPED], "it can be asked when it is closed"


def test_what_the_journal_forgets_was_read_before():
    with KafkaStub(topics={"orders": 1}, check=True, journal_entries=4) as stub:
        skip(stub.bootstrap_servers)
        assert stub.journal.total > 10
        assert told(stub.check()) == [SKIPPED]


def test_a_check_that_comes_late_says_what_was_gone():
    with KafkaStub(topics={"orders": 1}, journal_entries=4) as stub:
        skip(stub.bootstrap_servers)
        assert "entries of the journal were gone before the check began" in str(stub.check())


def test_a_proxy_says_the_same():
    with (
        KafkaStub(topics={"orders": 1}, journal=False) as cluster,
        KafkaProxy(cluster.bootstrap_servers, check=True) as proxy,
    ):
        skip(proxy.bootstrap_servers)
        assert told(proxy.check()) == [SKIPPED]


def test_the_journal_on_disk_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    journal = tmp_path / "journal"
    with KafkaStub(topics={"orders": 1}, journal=journal) as stub:
        skip(stub.bootstrap_servers)
    verdict = stub.check()
    report = tmp_path / "report.xml"
    assert main(["check", str(journal), "--junit", str(report)]) == 1
    assert capsys.readouterr().out == f"{verdict}\n"
    failures = [
        case.get("name") for case in ElementTree.parse(report).iter("testcase") if case.find("failure") is not None
    ]
    assert failures == ["skipped"]
    assert main(["check", str(journal), "--json", "--ignoring", "skipped"]) == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert main(["check", str(journal), "--ignoring", "skiped"]) == 2
    assert "did you mean 'skipped'?" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 2


@pytest.mark.parametrize("in_front", [False, True])
def test_the_control_port_says_the_same(in_front: bool):
    def ask(url: str) -> Any:
        with urllib.request.urlopen(f"{url}/v1/check") as answer:
            return json.load(answer)

    with KafkaStub(topics={"orders": 1}, control_port=0) as stub:
        if not in_front:
            skip(stub.bootstrap_servers)
            assert ask(stub.control_url) == json.loads(json.dumps(stub.check().to_json()))
            return
        with KafkaProxy(stub.bootstrap_servers, control_port=0) as proxy:
            skip(proxy.bootstrap_servers)
            assert [one["guarantee"] for one in ask(proxy.control_url)["findings"]] == ["skipped"]


def test_a_stub_in_another_process_has_it_too():
    with KafkaStub(topics={"orders": 1}, process=True, check=True) as stub:
        skip(stub.bootstrap_servers)
        assert told(stub.check()) == [SKIPPED]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"check": 1}, "check=1 is refused: expected True or False"),
        ({"check": True, "journal": False}, "remove journal=False"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], why: str):
    with pytest.raises((TypeError, ValueError), match=why):
        KafkaStub(**wrong)


def test_names_that_there_are_not_are_refused():
    with KafkaStub() as stub:
        with pytest.raises(ValueError, match="did you mean 'left_behind'"):
            stub.check("left_behin")
        with pytest.raises(ValueError, match="expected a list of names"):
            stub.check(ignoring="skipped")
        with pytest.raises(ValueError, match="'key', 'value' or a function"):
            stub.check.exactly_once("a", "b", by="offset")
        with pytest.raises(KeyError):
            stub.check().of("nothing")
