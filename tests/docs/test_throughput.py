"""The table of `make bench-throughput`: what it varies, how it is measured and told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from bench.contestants import Contestant, stub
from bench.frames import BadAnswer, Client
from bench.performance_page import PAGE
from bench.real_clients import Clients, Took, share_consumers
from bench.throughput import measure
from bench.throughput_report import HEADING, MIB, Found, Sample, Series, markdown, section, table
from bench.throughput_rows import CONSUME, LIBRDKAFKA, LOADS, PRODUCE, SHARE, Load

from kafkawire.messages.metadata_request import MetadataRequest

FOUND: Found = {
    "java 1 KB, produce": {
        "kafkastub": Series([Sample(1024, 0.5, 1024, 0.002, 1024), Sample(1024, 0.25, 1024, 0.002, 1024)]),
        "kfake": Series([Sample(1024, 1.0, 1024, 0.004, 1024), Sample(1024, 0.5, 1024, 0.004, 1024)]),
    },
    "java share group, share consume": {
        "kafkastub": Series([Sample(1024, 1.0, 1024, 0.001, 2048)]),
        "kfake": Series(failure="BadAnswer: a client did not end"),
    },
}


def test_every_dimension_varies_from_the_base_case() -> None:
    rows = [row for load in LOADS for row in load.rows]
    assert len(rows) == len(set(rows))
    assert 20 <= len(rows) <= 26
    base = LOADS[0]
    assert (base.size, base.compression, base.acks, base.clients, base.transaction_ms) == (1024, "none", "all", 1, None)
    assert {load.compression for load in LOADS} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert {load.size for load in LOADS} == {100, 1024}
    assert {load.acks for load in LOADS} == {"all", "1"}
    assert {load.clients for load in LOADS} == {1, 8}
    assert {what for load in LOADS for what in load.told} == {PRODUCE, CONSUME, SHARE}
    assert any(load.transaction_ms for load in LOADS)


def test_a_part_of_a_load_is_shared_by_its_clients_without_rest() -> None:
    assert Load("eight", 1000, clients=8).part(0.25).records == 248
    assert Load("one", 3).part(0.25).records == 1


def test_a_sample_counts_what_the_client_says_and_what_the_server_served() -> None:
    half_read = Sample(records=512, seconds=0.5, size=1024, server_seconds=0.002, served=1024)
    assert half_read.mb_s == 512 * 1024 / MIB / 0.5
    assert half_read.records_s == 1024
    assert half_read.server_ms_mb == 2.0


def test_the_table_has_medians_and_ratios_and_says_what_failed() -> None:
    head, _, produced, shared = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in markdown(FOUND).splitlines()
    )
    assert head[0] == ""
    assert dict(zip(head[1:], produced[1:], strict=True)) == {
        "kafkastub MB/s": "3.00",
        "kfake MB/s": "1.50",
        "x kfake": "2.00",
        "kafkastub records/s": "3,072",
        "kafkastub server ms/MB": "2.00",
        "kfake server ms/MB": "4.00",
    }
    assert shared[1:4] == ["1.00", "failed", "-"]
    assert "java share group, share consume: kfake failed: BadAnswer: a client did not end" in table(FOUND, {})
    told = section(FOUND, {"kafka": "no Java here"}, 3)
    assert "- java share group, share consume: kfake failed: BadAnswer: a client did not end\n" in told
    assert "- Without kafka: no Java here\n" in told


def test_the_page_tells_of_every_row_where_it_has_the_section() -> None:
    page = PAGE.read_text()
    if f"## {HEADING}\n" in page:
        told = {line.split(" | ")[0].removeprefix("| ") for line in page.splitlines() if line.startswith("| ")}
        assert {row for load in LOADS for row in load.rows} <= told


@pytest.fixture
def server() -> Iterator[Contestant]:
    with stub() as running:
        yield running


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_librdkafka_is_measured_and_its_topic_deleted(server: Contestant, compression: str) -> None:
    load = Load("small", 3000, size=50, client=LIBRDKAFKA, compression=compression)
    with Clients() as running:
        found = measure([load], [server], 1, running)
    for what in (PRODUCE, CONSUME):
        one = found[f"small, {what}"][server.name]
        assert one.failure is None
        (sample,) = one.samples
        assert 0 < sample.records <= 3000
        assert sample.served == 3000
        assert sample.seconds > 0
    with Client(server.host, server.port) as client:
        assert [
            topic.name for topic in client.ask(MetadataRequest(topics=None), 4).topics if not topic.is_internal
        ] == []


def test_a_client_that_fails_is_told_and_the_others_go_on(server: Contestant) -> None:
    loads = [Load("odd", 10, client=LIBRDKAFKA, compression="none such"), Load("good", 10, client=LIBRDKAFKA)]
    with Clients() as running:
        found = measure(loads, [server], 2, running)
    failure = found["odd, produce"][server.name].failure
    assert failure is not None
    assert "none such" in failure
    assert found["odd, consume"][server.name] == Series(failure="there was nothing to read")
    assert len(found["good, consume"][server.name].samples) == 2


def test_a_share_consumer_is_measured_from_its_first_records_on() -> None:
    day = "2026-11-30 18:33:0"
    said = f"""{day}0:000, {day}5:000, 0.0010, 0.0002, 0.2, 10, 5000 for share consumer 2
{day}0:000, {day}4:500, 0.0000, 0.0000, 0.0, 0, 4500 for share consumer 1
{day}5:000, {day}5:500, 0.0010, 0.0002, 0.2, 60, 500 for share consumer 1
{day}0:000, {day}6:000, 0.1000, 0.0167, 16.7, 110, 6000
"""
    assert share_consumers(said, 110) == Took(100, 1.0)
    with pytest.raises(BadAnswer, match="did not read 111 records"):
        share_consumers(said, 111)
