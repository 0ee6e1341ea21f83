"""/v1/topics/{name}/records: records are written and read without a client, in any language."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.waiting import SECONDS


def read(http: Http, topic: str, query: str = "") -> Any:
    return http.good("GET", f"/v1/topics/{topic}/records{query}")


def test_what_is_written_is_read_and_known_to_python(stub: KafkaStub, http: Http):
    stub.create_topic("r", 2)
    records = [
        {
            "key": "4711",
            "value": {"json": {"state": "sent", "n": [1]}},
            "headers": {"by": "me", "raw": {"base64": "/w=="}},
        },
        {"value": {"base64": "gP8="}, "partition": 1, "timestamp": 1_700_000_000_123},
        {"key": "4711", "value": None},
    ]
    written = http.good("POST", "/v1/topics/r/records", {"records": records})["records"]
    home = written[0]["partition"]
    assert written[2] == {"partition": home, "offset": written[0]["offset"] + 1 + (home == 1)}
    assert {(one.partition, one.value) for one in stub.records("r")} == {
        (home, b'{"state":"sent","n":[1]}'),
        (1, b"\x80\xff"),
        (home, None),
    }
    shown = read(http, "r", f"?partition={home}")
    first = shown["records"][0]
    assert (first["key"], first["value"]) == ("4711", '{"state":"sent","n":[1]}')
    assert first["headers"] == [["by", "me"], ["raw", {"base64": "/w=="}]]
    (raw,) = [one for one in read(http, "r", "?partition=1")["records"] if isinstance(one["value"], dict)]
    assert (raw["value"], raw["timestamp"], raw["timestamp_ms"]) == (
        {"base64": "gP8="},
        "2023-11-14T22:13:20.123Z",
        1_700_000_000_123,
    )


def test_without_a_key_every_partition_has_its_turn(stub: KafkaStub, http: Http):
    stub.create_topic("turns", 3)
    asked = [[{"value": "a"}], [{"value": "b"}, {"value": "c"}], [{"value": "d"}]]
    written = [http.good("POST", "/v1/topics/turns/records", {"records": records})["records"] for records in asked]
    places = [one["partition"] for records in written for one in records]
    assert [(one - places[0]) % 3 for one in places] == [0, 1, 2, 0]


def test_a_partition_is_read_page_by_page(stub: KafkaStub, http: Http):
    stub.create_topic("pages")
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "compression.type": "lz4"})
    for number in range(250):
        producer.produce("pages", str(number))
    producer.flush(SECONDS)
    seen: list[str] = []
    offset, end = 0, 1
    while offset < end:
        page = read(http, "pages", f"?offset={offset}&limit=100")
        seen += [one["value"] for one in page["records"]]
        offset, end = page["next"], page["end"]
    assert seen == [str(number) for number in range(250)]
    assert read(http, "pages", "?offset=1000") == {"records": [], "next": 1000, "end": 250}


def test_what_was_packed_small_comes_in_answers_of_some_megabytes(stub: KafkaStub, http: Http):
    stub.create_topic("bombs")
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "compression.type": "zstd", "linger.ms": 500})
    for _ in range(30):
        producer.produce("bombs", bytes(900_000))
    producer.flush(SECONDS)
    sizes: list[int] = []
    while not sizes or sum(sizes) < 30:
        page = read(http, "bombs", f"?offset={sum(sizes)}&limit=1000")
        sizes.append(len(page["records"]))
        assert page["next"] == sum(sizes)
    assert max(sizes) == 4


def test_committed_records_only(stub: KafkaStub, http: Http):
    stub.create_topic("tx")
    producer = Producer({"bootstrap.servers": stub.bootstrap_servers, "transactional.id": "t"})
    producer.init_transactions(SECONDS)
    for value, end in (("gone", producer.abort_transaction), ("kept", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce("tx", value)
        producer.flush(SECONDS)
        end(SECONDS)
    everything = [(one["value"], one["transaction"]) for one in read(http, "tx")["records"]]
    assert everything == [("gone", "aborted"), ("kept", "committed")]
    (kept,) = read(http, "tx", "?isolation=read_committed")["records"]
    assert (kept["value"], kept["offset"]) == ("kept", 2)


def test_records_that_are_yet_to_come_are_waited_for(stub: KafkaStub, http: Http):
    stub.create_topic("later")
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(read, http, "later", f"?until_end=2&timeout={SECONDS:g}")
        for value in ("a", "b"):
            stub.produce("later", value)
        assert [one["value"] for one in asked.result(SECONDS)["records"]] == ["a", "b"]
    status, said = http.ask("GET", "/v1/topics/later/records?until_end=3&timeout=0.01")
    assert (status, said["error"]) == (408, "later-0 ends at 2 after 0.01 s, 3 was waited for")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"records": []}, "records"),
        ({"records": [{"value": {"base64": "%"}}]}, "is not base64"),
        (
            {"records": [{"value": 5}]},
            r"records\.0\.value=5 is refused: expected a string, .* or null",
        ),
        ({"records": [{"value": {"id": 4711}}]}, "expected a string, .*json"),
        ({"records": [{"partition": 9}]}, "partitions 0 to 0, not 9"),
        ({"records": [{"value": "ok"}, {"partition": 9}]}, "record 1: .*; those before it are written"),
        ({"records": [{"timestamp": 2**63}]}, "timestamp"),
        ({}, "records"),
    ],
)
def test_what_cannot_be_written_is_refused(stub: KafkaStub, http: Http, body: Any, why: str):
    stub.create_topic("bad")
    status, said = http.ask("POST", "/v1/topics/bad/records", body)
    assert status in (400, 404)
    assert re.search(why, said["error"]), said
    assert http.ask("GET", "/v1/topics/none/records")[0] == 404
    assert "limit" in http.refusal("GET", "/v1/topics/bad/records?limit=1001")


@pytest.mark.parametrize("value", ["NaN", "-Infinity", '"\\ud800"', '{"\\udfff": 1}'])
def test_what_is_no_json_is_refused_though_python_reads_it(stub: KafkaStub, http: Http, value: str):
    stub.create_topic("bad")
    body = f'{{"records": [{{"value": {{"json": {value}}}}}]}}'
    answer = http.client.post(
        "/v1/topics/bad/records", content=body.encode(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert "are no JSON" in answer.json()["error"]
    assert not stub.records("bad")
