"""Stubs are started and ended by requests to a launcher."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from tests.launcher.launching import Launching, ask
from tests.ports import reserved_port


def topics_of(stub: dict[str, Any]) -> dict[str, int]:
    listed = ask(stub["control_url"], "GET", "/v1/topics").body["topics"]
    return {topic["name"]: topic["partitions"] for topic in listed}


def is_open(address: str) -> bool:
    host, _, port = address.removeprefix("http://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError:
        return False
    return True


def test_a_stub_serves_a_client_and_is_gone_at_its_end(launcher: Launching):
    stub = launcher.start(name="an order is shipped", topics={"orders": 1})
    assert stub["name"] == "an order is shipped"
    producer = Producer({"bootstrap.servers": stub["bootstrap_servers"]})
    producer.produce("orders", b"two teapots")
    assert producer.flush(30) == 0
    consumer = Consumer(
        {"bootstrap.servers": stub["bootstrap_servers"], "group.id": "shipping", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe(["orders"])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.value() == b"two teapots"

    assert launcher.ask("DELETE", f"/v1/stubs/{stub['id']}") == (200, {"id": stub["id"]})
    assert not is_open(stub["bootstrap_servers"])
    assert not is_open(stub["control_url"])
    assert launcher.ask("GET", f"/v1/stubs/{stub['id']}").status == 404
    assert launcher.ask("DELETE", f"/v1/stubs/{stub['id']}").error == (
        f"there is no stub '{stub['id']}': it was ended, or never started"
    )


def test_without_options_it_is_a_stub_with_a_control_port(launcher: Launching):
    for body in ({}, None):
        stub = launcher.ask("POST", "/v1/stubs", body).body
        assert stub["listeners"] == {"PLAINTEXT": stub["bootstrap_servers"]}
        assert (stub["name"], stub["registry_url"], stub["ca_file"]) == (None, None, None)
        assert ask(stub["control_url"], "GET", "/health").body["status"] == "healthy"


def test_stubs_know_nothing_of_each_other(launcher: Launching):
    one, other = launcher.start(topics=["orders"]), launcher.start(topics={"orders": 3, "audit": 2})
    assert topics_of(one) == {"orders": 1}
    assert topics_of(other) == {"orders": 3, "audit": 2}
    token = one["control_token"]
    frozen = ask(one["control_url"], "POST", "/v1/clock/freeze", token=token)
    assert frozen.body["frozen"] is True
    assert ask(other["control_url"], "GET", "/v1/clock").body["frozen"] is False


def test_stubs_that_run_are_listed(launcher: Launching):
    stub = launcher.start(name="listed")
    listed = launcher.ask("GET", "/v1/stubs").body
    assert [one for one in listed["stubs"] if one["name"] == "listed"] == [stub]
    assert launcher.ask("GET", f"/v1/stubs/{stub['id']}").body == stub
    assert listed["total"] == launcher.ask("GET", "/health").body["stubs"] == len(listed["stubs"])


def test_many_are_started_at_once(launcher: Launching):
    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(lambda number: launcher.start(topics={f"topic-{number}": 1}), range(24)))
    assert [topics_of(stub) for stub in started] == [{f"topic-{number}": 1} for number in range(24)]
    assert len({stub["bootstrap_servers"] for stub in started}) == 24
    with ThreadPoolExecutor(8) as pool:
        ended = pool.map(lambda stub: launcher.ask("DELETE", f"/v1/stubs/{stub['id']}").status, started)
    assert set(ended) == {200}


def test_no_more_run_than_the_launcher_allows():
    with Launching("--most-stubs", "1") as launcher:
        first = launcher.start()
        refused = launcher.ask("POST", "/v1/stubs", {})
        assert refused.status == 429
        assert refused.error == "1 stubs run already: end some, or start the launcher with a larger --most-stubs"
        launcher.ask("DELETE", f"/v1/stubs/{first['id']}")
        launcher.start()


def test_options_are_those_of_a_stub(launcher: Launching, tmp_path: Path):
    properties = tmp_path / "server.properties"
    properties.write_text("offsets.retention.minutes=7\nnum.partitions=2\n")
    with reserved_port() as port, reserved_port() as control_port:
        stub = launcher.start(
            config_file=str(properties), config={"num.partitions": 5}, profile="kafka", port=port, racks=["a"],
            registry=True, control_port=control_port, control_token="only-here",
            faults=[{"api": "Fetch", "delay_ms": 1, "name": "slow"}], check=True, chaos="late-commit",
            journal=str(tmp_path / "journal"),
        )  # fmt: skip
        assert stub["bootstrap_servers"] == f"127.0.0.1:{port}"
        assert stub["control_url"] == f"http://127.0.0.1:{control_port}"
    control = stub["control_url"]
    config = ask(control, "GET", "/v1/config").body
    assert config["profile"] == "kafka"
    assert (config["set"]["num.partitions"], config["set"]["offsets.retention.minutes"]) == ("5", "7")
    assert [node["rack"] for node in ask(control, "GET", "/v1/nodes").body["nodes"]] == ["a"]
    assert [fault["id"] for fault in ask(control, "GET", "/v1/faults").body["faults"]] == ["slow"]
    assert ask(control, "GET", "/v1/chaos").body["running"] is True
    assert ask(control, "GET", "/v1/check").status == 200
    assert ask(stub["registry_url"], "GET", "/subjects").body == []
    assert ask(control, "POST", "/v1/clock/freeze", token=launcher.token).status == 401
    assert ask(control, "POST", "/v1/clock/freeze", token="only-here").status == 200
    assert launcher.ask("DELETE", f"/v1/stubs/{stub['id']}").status == 200
    assert list((tmp_path / "journal").iterdir())


def test_a_stub_may_have_several_nodes(launcher: Launching):
    stub = launcher.start(nodes=3, racks=["a", "b"])
    assert len(stub["bootstrap_servers"].split(",")) == 3
    assert [node["rack"] for node in ask(stub["control_url"], "GET", "/v1/nodes").body["nodes"]] == ["a", "b", "a"]


def test_a_stub_with_tls_says_which_certificate_clients_trust(launcher: Launching):
    stub = launcher.start(config={"listeners": "SSL://127.0.0.1:0", "inter.broker.listener.name": "SSL"})
    assert list(stub["listeners"]) == ["SSL"]
    assert Path(stub["ca_file"]).read_text().startswith("-----BEGIN CERTIFICATE-----")
    launcher.ask("DELETE", f"/v1/stubs/{stub['id']}")
    assert not Path(stub["ca_file"]).exists()


def test_a_stub_with_a_data_directory_goes_on_where_the_last_one_ended(launcher: Launching, tmp_path: Path):
    first = launcher.start(topics={"orders": 2}, data_dir=str(tmp_path / "data"))
    taken = launcher.ask("POST", "/v1/stubs", {"data_dir": str(tmp_path / "data")})
    assert taken.status == 409
    assert str(tmp_path / "data") in taken.error
    launcher.ask("DELETE", f"/v1/stubs/{first['id']}")
    assert topics_of(launcher.start(data_dir=str(tmp_path / "data"))) == {"orders": 2}


def test_a_stub_begins_with_a_snapshot(launcher: Launching, tmp_path: Path):
    import urllib.request

    first = launcher.start(topics={"orders": 4})
    control, token = first["control_url"], first["control_token"]
    assert ask(control, "POST", "/v1/snapshots", {"id": "seed"}, token).status == 201
    request = urllib.request.Request(f"{control}/v1/snapshots/seed/file", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as file:
        (tmp_path / "seed").write_bytes(file.read())
    assert topics_of(launcher.start(snapshot=str(tmp_path / "seed"))) == {"orders": 4}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"topix": {"orders": 3}}, "there is no field topix here"),
        ({"port": "9092"}, "port='9092' is refused: input should be a valid integer"),
        ({"port": 70000}, "port=70000 is refused: input should be less than or equal to 65535"),
        ({"nodes": 0}, "nodes=0 is refused: input should be greater than or equal to 1"),
        ({"racks": ["a", "b"]},
         "racks names 2 racks: at most 1 is allowed, one for each node; leave some out, or raise nodes"),
        ({"profile": "kip"}, "profile='kip' is refused: input should be 'kips' or 'kafka'"),
        ({"topics": {"orders": 0}},
         "topic 'orders' is refused: Number of partitions was set to an invalid non-positive value."),
        ({"config": {"num.partitions": 0}},
         "num.partitions=0 is refused: allowed is a whole number of 32 bits, at least 1"),
        ({"config_file": "/no/such"},
         "config_file: configuration file /no/such can't be read: No such file or directory"),
        ({"snapshot": "/no/such"}, "snapshot='/no/such' cannot be read: No such file or directory"),
        ({"faults": [{"api": "Fetch", "delay_ms": 1}, {"api": "Fetch"}]},
         "faults.1: the rule does nothing: give error, drop, cut, silent, delay_ms, hold or throttle_time_ms (0 bytes: "
         "cut=0)"),
        ({"chaos": "no such"},
         "chaos='no such' is refused: the scenarios are late-abort, late-commit, late-partitions, late-records, "
         "late-offsets"),
        ({"chaos": 7, "chaos_level": 4}, "chaos_level=4 is refused: input should be less than or equal to 3"),
        ({"journal": False, "check": True}, "check=true reads the journal: leave journal=false out"),
        ({"journal_entries": 0}, "journal_entries=0 is refused: 1 to 1000000 is allowed"),
        ({"control_token": "two words"},
         "control_token is refused: a token is 1 to 256 letters, digits and signs of ASCII without blanks"),
        ({"control_allowed_hosts": ["a,b"]}, "control_allowed_hosts=['a,b'] is refused: 'a,b' is not a host's name"),
        ({"host": "no.such.host.invalid"}, None),
        ([], "the body=[] is refused: input should be a valid dictionary or object to extract fields from"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused_names_the_field(launcher: Launching, options: object, sentence: str | None):
    before = launcher.ask("GET", "/health").body["stubs"]
    refused = launcher.ask("POST", "/v1/stubs", options)
    assert refused.status in (400, 409)
    if sentence is not None:
        assert refused.error == sentence
    assert launcher.ask("GET", "/health").body["stubs"] == before


def test_a_port_that_is_taken_is_named(launcher: Launching):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for option, what in (("port", ""), ("control_port", "the control port cannot be ")):
            refused = launcher.ask("POST", "/v1/stubs", {option: port})
            assert refused.status == 409
            assert refused.error.startswith(what)
            assert f"{port} on 127.0.0.1" in refused.error
            assert "another process" in refused.error


def test_nobody_without_the_token_starts_or_sees_a_stub(launcher: Launching):
    for method, path in (("POST", "/v1/stubs"), ("GET", "/v1/stubs"), ("GET", "/v1/stubs/stub-1")):
        nobody = ask(launcher.url, method, path, {} if method == "POST" else None)
        assert nobody == (
            401,
            {
                "error": "this needs the launcher's token, as the header `Authorization: Bearer TOKEN`",
                "code": "NO_TOKEN",
            },
        )
        assert launcher.ask(method, path, token="another").body["code"] == "WRONG_TOKEN"
    assert ask(launcher.url, "GET", "/health").status == 200


def test_what_is_not_there_is_told(launcher: Launching):
    assert launcher.ask("GET", "/v1/nothing").error == "there is nothing at /v1/nothing: see docs/launcher.md"
    assert launcher.ask("PUT", "/v1/stubs").error == "/v1/stubs cannot be asked with PUT: see docs/launcher.md"
