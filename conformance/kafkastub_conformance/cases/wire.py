"""ApiVersions, DescribeCluster, and what a connection bears: for any API."""

from __future__ import annotations

import struct
from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import NOT_EMPTY, Answer, containing, expect, expect_that
from kafkastub_conformance.messages import KEYS
from kafkastub_conformance.registry import case
from kafkastub_conformance.release import versions
from kafkawire.codec import decode
from kafkawire.errors import ErrorCode as E
from kafkawire.messages.api_versions_response import ApiVersionsResponse

SOURCE = "KIP-35, KIP-511"
SOCKET = "Kafka: SocketServer"
BODY = struct.pack(">h5sih6s", 5, b"group", 1, 6, b"nobody")
"""Of a Heartbeat, version 0."""


def usual(on: Broker) -> int:
    """What the broker answers to this Heartbeat, whatever that is: these cases are about how it is asked."""
    return int(on.link("usual").raw("Heartbeat", 0, BODY).answer().error_code)


def heartbeat(on: Broker) -> None:
    """One more request is answered."""
    answer = on.link().raw("Heartbeat", 0, BODY).answer()
    expect_that("error_code of Heartbeat", answer.error_code, usual(on))


def closes(on: Broker) -> None:
    expect_that("whether the connection was closed", on.link().closed(), True)


def ask_versions(on: Broker, name: str = "kafkastub", version: str = "1.0", **more: Any) -> Answer:
    return on.ask("ApiVersions", client_software_name=name, client_software_version=version, **more)


@case("ApiVersions", "Every API is listed once, with versions that make sense.", source=SOURCE)
def listed(on: Broker) -> None:
    answer = ask_versions(on)
    expect(answer, error_code=E.NONE)
    keys = [row.api_key for row in answer.api_keys]
    expect_that("the keys, each once", sorted(keys), sorted(set(keys)))
    wrong = [row.api_key for row in answer.api_keys if not 0 <= row.min_version <= row.max_version]
    expect_that("keys with impossible versions", wrong, [])
    expect_that("whether ApiVersions is among them", KEYS["ApiVersions"] in keys, True)


@case("ApiVersions", "A software name that cannot be: INVALID_REQUEST.", source="KIP-511", versions=(3, 5))
def bad_software_name(on: Broker) -> None:
    for name, version in (("", "1"), ("a", ""), ("-a", "1"), ("a b", "1"), ("a", "1.")):
        expect(ask_versions(on, name, version), error_code=E.INVALID_REQUEST, api_keys=[])


@case(
    "ApiVersions",
    "A version that does not exist: UNSUPPORTED_VERSION, in version 0.",
    source="KIP-511",
    versions=(0, 0),
)
def version_of_the_future(on: Broker) -> None:
    for version in (99, 32767, -1):
        link = on.link()
        number = link.send_raw(KEYS["ApiVersions"], version, b"\0" if version > 0 else b"")
        told = decode(ApiVersionsResponse, 0, link.receive(number)[4:])
        own = [(row.api_key, row.min_version, row.max_version) for row in told.api_keys]
        between = on.cluster.advertised["ApiVersions"]
        expect_that("error code and list", (told.error_code, own), (E.UNSUPPORTED_VERSION, [(18, *between)]))


@case("ApiVersions", "The finalized features.", source="KIP-584", versions=(3, 5))
def features(on: Broker) -> None:
    row = {"name": "metadata.version", "max_version_level": NOT_EMPTY}
    expect(ask_versions(on), finalized_features=containing(row, by="name"))


@case(
    "ApiVersions",
    "Whom the client means: another cluster or node is REBOOTSTRAP_REQUIRED, one without the other INVALID_REQUEST.",
    source="KIP-1242",
    versions=(5, 5),
    also=["Metadata"],
)
def whom_the_client_means(on: Broker) -> None:
    here, node = on.cluster.ask("Metadata", topics=[]).cluster_id, on.cluster.node_id
    for cluster_id, node_id in (("another", node), ("", node), (here, node + 1000), (here, -2)):
        answer = ask_versions(on, cluster_id=cluster_id, node_id=node_id)
        expect(answer, error_code=E.REBOOTSTRAP_REQUIRED, api_keys=[])
    for cluster_id, node_id in ((None, node), (here, -1), ("another", -1)):
        answer = ask_versions(on, cluster_id=cluster_id, node_id=node_id)
        expect(answer, error_code=E.INVALID_REQUEST, api_keys=[])
    for cluster_id, node_id in ((here, node), (None, -1)):
        answer = ask_versions(on, cluster_id=cluster_id, node_id=node_id)
        expect(answer, error_code=E.NONE, api_keys=NOT_EMPTY)


@case("ApiVersions", "Bytes behind a request are ignored.", source=SOCKET, name="trailing_bytes", versions=(0, 0))
def trailing(on: Broker) -> None:
    for behind in (b"\0", b"\xff\xff", BODY):
        answer = on.link().raw("Heartbeat", 0, BODY + behind).answer()
        expect_that("error_code", answer.error_code, usual(on))
    heartbeat(on)


@case("ApiVersions", "Pipelined requests are answered in their order.", source=SOCKET, versions=(0, 0))
def pipelined(on: Broker) -> None:
    sent = [on.link().raw("Heartbeat", 0, BODY) for _ in range(200)]
    codes = {pending.answer().error_code for pending in sent}
    expect_that("the error codes", codes, {usual(on)})


@case("ApiVersions", "A request may come byte by byte.", source=SOCKET, versions=(0, 0))
def byte_by_byte(on: Broker) -> None:
    header = struct.pack(">hhih3s", 12, 0, 77, 3, b"raw") + BODY
    for byte in struct.pack(">i", len(header)) + header:
        on.link().send_bytes(bytes((byte,)))
    expect_that("the correlation id", on.link().receive_frame()[:4], struct.pack(">i", 77))


@case("ApiVersions", "An API that does not exist ends the connection.", source="Kafka: RequestContext", versions=(0, 0))
def unknown_api(on: Broker) -> None:
    for key in (32000, -1):
        on.link().send_raw(key, 0, b"")
        closes(on)
        on.hang_up()
        heartbeat(on)  # the connection alone has ended


@case(
    "ApiVersions",
    "A version that an API does not have ends the connection.",
    source="Kafka: RequestContext",
    versions=(0, 0),
)
def unknown_version(on: Broker) -> None:
    for version in (99, -1):
        on.link().send_raw(KEYS["Heartbeat"], version, BODY)
        closes(on)
        on.hang_up()
        heartbeat(on)


@case("ApiVersions", "Half a body ends the connection.", source="Kafka: RequestContext", versions=(0, 0))
def half_a_body(on: Broker) -> None:
    heartbeat(on)
    on.link().raw("Heartbeat", 0, BODY[:-3])
    closes(on)


@case(
    "ApiVersions",
    "A negative size, and one beyond socket.request.max.bytes, end the connection.",
    source=SOCKET,
    versions=(0, 0),
)
def bad_sizes(on: Broker) -> None:
    for size in (-1, -(2**31), 2**31 - 1):
        on.link().send_bytes(struct.pack(">i", size))
        closes(on)
        on.hang_up()


@case("ApiVersions", "An empty frame ends the connection.", source=SOCKET, versions=(0, 0))
def empty_frame(on: Broker) -> None:
    on.link().send_bytes(struct.pack(">i", 0))
    closes(on)


@case("ApiVersions", "A client id may be null, empty or long.", source=SOCKET, versions=(0, 0))
def client_ids(on: Broker) -> None:
    for name in (None, "", "x" * 300):
        link = on.link()
        link.client_id = name
        heartbeat(on)


@case("DescribeCluster", "Cluster id, controller and brokers.", source="KIP-700")
def cluster(on: Broker) -> None:
    answer = on.ask("DescribeCluster", endpoint_type=1)
    row = {"broker_id": on.cluster.node_id, "host": NOT_EMPTY, "port": NOT_EMPTY, "is_fenced": False}
    expect(
        answer,
        error_code=E.NONE,
        error_message=None,
        endpoint_type=1,
        cluster_id=NOT_EMPTY,
        brokers=containing(row, by="broker_id"),
        cluster_authorized_operations=-(2**31),
    )


@case("DescribeCluster", "The allowed operations are returned if requested.", source="KIP-430")
def cluster_operations(on: Broker) -> None:
    answer = on.ask("DescribeCluster", endpoint_type=1, include_cluster_authorized_operations=True)
    expect_that("whether there are any", answer.cluster_authorized_operations > 0, True)


@case(
    "DescribeCluster",
    "Controllers: MISMATCHED_ENDPOINT_TYPE; other types: UNSUPPORTED_ENDPOINT_TYPE.",
    source="KIP-919",
    versions=(1, 2),
)
def endpoint_types(on: Broker) -> None:
    for kind, code in ((2, E.MISMATCHED_ENDPOINT_TYPE), (3, E.UNSUPPORTED_ENDPOINT_TYPE)):
        expect(on.ask("DescribeCluster", endpoint_type=kind), error_code=code, brokers=[])


@case(
    "ApiVersions",
    "An API that is listed has every version of the release of Apache Kafka that the broker is measured by.",
    source="Kafka: ApiKeys",
    versions=(0, 0),
)
def complete(on: Broker) -> None:
    missing = []
    of_release = versions(on.cluster.release)
    for name, (first, last) in on.cluster.advertised.items():
        low, high = of_release.get(name, (first, last))
        missing += [f"{name} v{version}" for version in range(low, high + 1) if not first <= version <= last]
    expect_that("versions that are missing", missing, [])
