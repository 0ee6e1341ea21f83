"""/v1/config and /v1/reset."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from kafkastub.config.kafka_table import BROKER
from kafkastub.config.own import OWN
from kafkawire.codec import encode
from kafkawire.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafkawire.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from tests.control.conftest import Http, commit_for
from tests.process.serving import metadata
from tests.rawclient import RawClient
from tests.waiting import SECONDS


def test_the_configuration_is_shown(stub: KafkaStub, http: Http):
    shown = http.good("GET", "/v1/config")
    assert shown["profile"] == "kips"
    assert shown["bootstrap_servers"] == stub.bootstrap_servers
    assert shown["topics"] == {"orders": 2}
    assert shown["set"]["group.initial.rebalance.delay.ms"] == "0"
    assert shown["kafka"]["offsets.retention.minutes"] == "10080"
    assert "kafkastub.flush" in shown["kafkastub"]


JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
PASSWORDS = [name for table in (BROKER, OWN) for name, row in table.items() if row[0] == "password"]
SECRET = "geheim"


def test_passwords_are_not_shown():
    config = {name: SECRET for name in PASSWORDS if name != "kafkastub.users"}
    module = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_bob="{SECRET}";'
    config |= {JAAS: module, "sasl.enabled.mechanisms": "PLAIN", "a.name.that.nobody.has": SECRET}
    with KafkaStub(users={"alice": SECRET}, config=config, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            shown = http.good("GET", "/v1/config")
            assert {shown["set"][name] for name, value in config.items() if value != "PLAIN"} == {None}
            assert shown["kafkastub"]["kafkastub.users"] is None
            paths = [path for path, said in http.good("GET", "/openapi.json")["paths"].items() if "get" in said]
            told = {path: http.client.get(path).text for path in paths if not path.endswith(("}", "/follow", "/wait"))}
            assert [path for path, text in told.items() if SECRET in text] == []
            assert len(told) >= 10


def test_a_reset_gives_a_fresh_broker_at_the_same_address(stub: KafkaStub, http: Http):
    address = stub.bootstrap_servers
    commit_for(stub, "shipping")
    stub.create_topic("audit")
    stub.clock.freeze()
    stub.clock.advance(days=30)
    stub.faults.add(api="Metadata", drop="before")
    before = http.good("GET", "/v1/topics/orders")["topic_id"]

    with RawClient(address) as connected:
        connected.exchange(18, 0, b"")
        said = http.good("POST", "/v1/reset")
        with pytest.raises((ConnectionError, EOFError)):
            connected.exchange(18, 0, b"")

    assert said == {"bootstrap_servers": address, "topics": ["orders"]}
    assert stub.bootstrap_servers == address
    assert [topic.name for topic in metadata(address).topics] == ["orders"]
    assert http.good("GET", "/v1/topics/orders")["topic_id"] != before
    assert http.good("GET", "/v1/groups")["total"] == 0
    clock = http.good("GET", "/v1/clock")
    assert clock["frozen"] is False
    assert abs(clock["now_ms"] - stub._running().clock.wall_ms()) < 60_000
    assert http.good("GET", "/v1/faults") == {"faults": []}
    assert http.good("GET", "/health")["status"] == "healthy"


def test_after_a_reset_python_has_the_new_broker_in_hand(stub: KafkaStub, http: Http):
    http.good("POST", "/v1/reset")
    stub.clock.freeze()
    commit_for(stub, "shipping")
    stub.clock.advance(days=7)
    assert stub.metrics()["offset-expirations"] == 1
    assert [entry.groups for entry in stub.journal.requests(api="OffsetCommit")] == [("shipping",)]
    with stub.faults.add(api="Metadata", delay_ms=1) as fault:
        metadata(stub.bootstrap_servers)
        assert fault.hits == 1
    http.good("POST", "/v1/reset")
    assert len(stub.journal) == 0


def test_a_reset_takes_back_what_clients_have_configured(stub: KafkaStub, http: Http):
    stub._call(lambda: stub._running().config.set_dynamic({"message.max.bytes": "99999"}, per_broker=True))
    assert http.good("GET", "/v1/config")["kafka"]["message.max.bytes"] == "99999"
    http.good("POST", "/v1/reset")
    assert http.good("GET", "/v1/config")["kafka"]["message.max.bytes"] == "1048588"


def test_a_reset_keeps_the_address_that_clients_are_told(stub: KafkaStub, http: Http):
    http.good("PUT", "/v1/advertised", {"address": f"localhost:{stub.port}"})
    assert http.good("POST", "/v1/reset")["bootstrap_servers"] == f"localhost:{stub.port}"


def test_a_reset_brings_back_the_nodes_of_the_start():
    with KafkaStub(topics={"orders": 3}, nodes=2, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            addresses = stub.bootstrap_servers
            http.good("POST", "/v1/nodes")
            http.good("POST", "/v1/nodes/2/stop")
            http.good("POST", "/v1/reset")
            assert [(each["node"], each["running"]) for each in http.good("GET", "/v1/nodes")["nodes"]] == [
                (1, True), (2, True),
            ]  # fmt: skip
            assert stub.bootstrap_servers == addresses
            for address in addresses.split(","):
                assert len(metadata(address).brokers) == 2


def test_parked_requests_end_with_the_old_broker():
    """A join that waits for other members, and a fetch that waits for records."""
    protocols = [JoinGroupRequestProtocol("range", b"")]
    join = JoinGroupRequest("shipping", 60_000, 300_000, "", None, "consumer", protocols)
    wanted = [FetchTopic("orders", partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=1000)])]
    fetch = FetchRequest(max_wait_ms=300_000, min_bytes=1, session_epoch=-1, topics=wanted)
    config = {"group.initial.rebalance.delay.ms": 300_000}
    with KafkaStub(topics={"orders": 1}, config=config, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            for request, version, api in ((join, 3, "JoinGroup"), (fetch, 11, "Fetch")):
                with RawClient(stub.bootstrap_servers) as client:
                    client.send(request.API_KEY, version, encode(request, version))
                    stub.journal.wait_for(api=api, outcome="pending", timeout=SECONDS)
                    http.good("POST", "/v1/reset")
                    assert client.receive() is None
                assert http.good("GET", "/v1/groups")["total"] == 0


def test_a_broker_with_a_data_directory_is_not_reset(tmp_path: Path):
    with KafkaStub(data_dir=tmp_path / "data", control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            status, said = http.post("/v1/reset")
            assert status == 409
            assert "a broker with a data directory cannot be reset" in said["error"]
