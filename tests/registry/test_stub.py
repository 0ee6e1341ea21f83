"""`KafkaStub(registry=True)`: the registry as a test in Python has it, and its state in the broker's topic."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Producer

from kafkastub import KafkaStub, RegistryError, Snapshot
from kafkastub.registry_port.writer import Overtaken, Writer
from tests.registry.bench import field, record

ORDER = record(field("id", "long"))
SECONDS = 60


def test_a_schema_is_registered_looked_up_and_deleted():
    with KafkaStub(registry=True) as stub:
        registry = stub.registry
        found = registry.register("orders-value", ORDER)
        assert (found.version, found.id, found.type) == (1, 1, "AVRO")
        assert registry.latest("orders-value") == registry.version("orders-value", 1) == registry.schema(1)
        assert registry.lookup("orders-value", json.dumps(ORDER, indent=1)).version == 1
        registry.set_compatibility("FULL", "orders-value")
        assert (registry.compatibility("orders-value"), registry.compatibility()) == ("FULL", "BACKWARD")
        why = registry.why_incompatible("orders-value", record(field("id", "string")))
        assert "TYPE_MISMATCH" in why[0]
        registry.set_mode("READONLY")
        assert registry.mode() == "READONLY"
        with pytest.raises(RegistryError, match="read-only") as refusal:
            registry.delete_subject("orders-value")
        assert (refusal.value.status, refusal.value.code) == (422, 42205)
        registry.set_mode("READWRITE")
        assert registry.delete_version("orders-value", 1) == 1
        assert (registry.subjects(), registry.subjects(deleted=True)) == ([], ["orders-value"])
        assert registry.versions("orders-value", deleted=True) == [1]
        assert registry.delete_subject("orders-value", permanent=True) == [1]


def test_what_is_no_schema_is_a_mistake_of_the_test():
    with KafkaStub(registry=True) as stub:
        for work in (
            lambda: stub.registry.register("a", 5),  # type: ignore[arg-type]
            lambda: stub.registry.register(5, "int"),  # type: ignore[arg-type]
        ):
            with pytest.raises(TypeError, match="is refused"):
                work()


def test_a_stub_without_one_says_how_to_have_one():
    with KafkaStub() as stub:
        with pytest.raises(RuntimeError, match="registry=True"):
            stub.registry  # noqa: B018
        assert stub._call(lambda: stub._running().state.cluster.topic("_schemas")) is None
        assert stub.with_registry().register("a", "string").id == 1


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(TypeError, match="registry='yes'"):
        KafkaStub(registry="yes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="registry_port=70000"):
        KafkaStub(registry_port=70000)


def test_the_topic_is_one_partition_and_compacted():
    with KafkaStub(registry=True, nodes=3) as stub:
        topic = stub._call(lambda: stub._running().state.cluster.topic("_schemas"))
        assert topic is not None
        assert (len(topic.partitions), dict(topic.configs)) == (1, {"cleanup.policy": "compact"})


def test_it_is_what_a_snapshot_was_taken_of(tmp_path: Path):
    with KafkaStub(registry=True) as stub:
        stub.registry.register("a", ORDER)
        saved = stub.snapshot()
        stub.registry.register("b", ORDER)
        stub.registry.delete_subject("a")
        stub.restore(saved)
        assert stub.registry.subjects() == ["a"]
        with stub.rolled_back():
            stub.registry.register("c", "string")
        assert httpx.get(f"{stub.registry.url}/subjects", timeout=SECONDS).json() == ["a"]
        assert stub.registry.register("c", "string").id == 2
        saved.save(tmp_path / "saved")
    with KafkaStub(registry=True, snapshot=Snapshot.load(tmp_path / "saved")) as stub:
        assert stub.registry.latest("a").id == 1


def test_it_has_the_brokers_clock():
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    with KafkaStub(registry=True) as stub:
        stub.clock.freeze()
        stub.clock.set(moment)
        stub.registry.register("a", ORDER)
        assert stub.registry.latest("a").ts == moment.timestamp() * 1000


def test_another_writer_of_the_topic_is_heard():
    """Confluent's own registry, or a tool that copies one."""
    value = b'{"subject":"a","version":1,"id":7,"schema":"\\"int\\"","deleted":false}'
    with KafkaStub(registry=True) as stub:
        producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "compression.type": "gzip"})
        producer.produce("_schemas", value, b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}')
        producer.produce("_schemas", b"rubbish", b"rubbish")
        assert producer.flush(SECONDS) == 0
        assert stub.registry.latest("a").id == 7
        assert stub.registry.register("b", '"long"').id == 8
        assert stub.registry.register("c", '"int"').id == 7


@pytest.mark.parametrize("other", ["produce", "restore"])
def test_what_a_thread_has_found_out_is_not_written_where_it_is_not_so_any_more(other: str):
    value = b'{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","deleted":false}'
    with KafkaStub(registry=True) as stub:
        saved = stub.snapshot()
        kept = stub.registry._kept
        assert kept is not None

        async def begin(_: object) -> Writer:
            kept.now()
            kept.worker = Writer(kept)
            return kept.worker

        writer = stub._thread.call_async(begin)
        if other == "restore":
            stub.restore(saved)
        else:
            stub.produce("_schemas", value, key=b'{"keytype":"SCHEMA","subject":"a","version":1,"magic":1}')
        key = b'{"keytype":"SCHEMA","subject":"b","version":1,"magic":1}'
        with pytest.raises(Overtaken):
            writer.run(lambda: writer.write([(key, value.replace(b"int", b"long").replace(b'"a"', b'"b"'))]))
        kept.worker = None
        assert "b" not in stub.registry.subjects()


def test_a_topic_that_is_deleted_takes_all_with_it():
    with KafkaStub(registry=True, control_port=0) as stub:
        stub.registry.register("a", ORDER)
        httpx.delete(f"{stub.control_url}/v1/topics/_schemas", timeout=SECONDS).raise_for_status()
        assert stub.registry.subjects() == []
        assert stub.registry.register("b", ORDER).id == 1
        httpx.post(f"{stub.control_url}/v1/reset", timeout=SECONDS).raise_for_status()
        assert stub.registry.subjects() == []
        assert stub.registry.register("c", ORDER).id == 1


def test_no_leader_is_no_registration():
    with KafkaStub(registry=True, nodes=2) as stub:
        stub.nodes[stub.leader_of("_schemas", 0)].stop()
        with pytest.raises(RegistryError) as refusal:
            stub.registry.register("a", ORDER)
        assert (refusal.value.status, refusal.value.code) == (500, 50001)


def test_compaction_loses_nothing_that_counts():
    with KafkaStub(registry=True) as stub:
        for at in range(50):
            stub.registry.set_compatibility("FULL" if at % 2 else "NONE", "a")
        stub.registry.register("a", ORDER)
        stub.clock.advance(days=30)
        saved = stub.snapshot()
    with KafkaStub(registry=True, snapshot=saved) as stub:
        assert (stub.registry.compatibility("a"), stub.registry.subjects()) == ("FULL", ["a"])


def test_a_stub_in_a_process_of_its_own_has_one_too():
    with KafkaStub(registry=True, process=True) as stub:
        assert stub.registry.register("a", ORDER).id == 1
        assert stub.registry.latest("a").text
        assert httpx.get(f"{stub.registry.url}/subjects", timeout=SECONDS).json() == ["a"]
        with pytest.raises(RegistryError) as refusal:
            stub.registry.latest("b")
        assert refusal.value.code == 40401


KILLED = """
import os, sys
from kafkastub import KafkaStub
stub = KafkaStub(registry=True, data_dir=sys.argv[1], config={"kafkastub.flush": "message"}).start()
stub.registry.register("a", "string")
stub.registry.set_compatibility("NONE", "a")
stub.registry.register("a", "int")
os._exit(9)
"""


def test_it_is_there_again_after_a_process_that_was_killed(tmp_path: Path):
    folder = tmp_path / "data"
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], check=False, timeout=SECONDS)
    assert done.returncode == 9
    for _ in range(2):
        with KafkaStub(registry=True, data_dir=folder) as stub:
            assert stub.registry.versions("a") == [1, 2]
            assert stub.registry.compatibility("a") == "NONE"
            assert stub.registry.register("b", "long").id == 3


LOADED = """
import sys
from kafkastub import KafkaStub
with KafkaStub() as stub:
    pass
wanted = [one for one in sys.modules if one.startswith(("kafkastub.registry", "uvicorn", "google", "antlr4"))]
sys.exit(", ".join(wanted) or 0)
"""


def test_nothing_of_it_is_loaded_without_it():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
