"""/v1/quotas."""

from __future__ import annotations

from typing import Any

import pytest

from kafkastub import KafkaStub
from tests.control.conftest import Http
from tests.quotas.talking import Client


def test_a_quota_that_is_set_slows_clients_down_until_it_is_removed(stub: KafkaStub, http: Http):
    made = http.good("POST", "/v1/quotas", {"client_id": "loader", "quotas": {"producer_byte_rate": 100}})
    assert made == {"user": None, "client_id": "loader", "ip": None, "quotas": {"producer_byte_rate": 100}}
    with Client(stub.bootstrap_servers, "loader") as loader:
        assert loader.produce("orders", 20_000).throttle_ms > 0
    http.good("POST", "/v1/quotas", {"client_id": "loader", "quotas": {"producer_byte_rate": None}})
    assert http.good("GET", "/v1/quotas") == {"quotas": []}
    with Client(stub.bootstrap_servers, "loader") as loader:
        assert loader.produce("orders", 20_000).throttle_ms == 0


def test_quotas_are_listed_whoever_has_set_them(stub: KafkaStub, http: Http):
    http.good("POST", "/v1/quotas", {"user": "", "client_id": "app", "quotas": {"request_percentage": 50.5}})
    with Client(stub.bootstrap_servers) as client:
        client.set_quota({"ip": "10.0.0.1"}, connection_creation_rate=5.0)
        client.alter(([("user", "odd")], [("request_percentage", 0.25)]))
    assert http.good("GET", "/v1/quotas")["quotas"] == [
        {"user": "", "client_id": "app", "ip": None, "quotas": {"request_percentage": 50.5}},
        {"user": None, "client_id": None, "ip": "10.0.0.1", "quotas": {"connection_creation_rate": 5}},
        {"user": "odd", "client_id": None, "ip": None, "quotas": {"request_percentage": 0.25}},
    ]
    assert len(http.good("GET", "/v1/quotas", limit=1)["quotas"]) == 1


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"quotas": {"producer_byte_rate": 1}}, "Invalid empty client quota entity"),
        ({"user": "u", "quotas": {"producer_byte_rate": 0}}, "producer_byte_rate must be greater than 0"),
        (
            {"user": "u", "quotas": {"no_such": 1}},
            "quotas.no_such is refused: a user or client id has producer_byte_rate, consumer_byte_rate, "
            "controller_mutation_rate, request_percentage",
        ),
        ({"user": "u", "quotas": {"no_such": None}}, "quotas.no_such is refused: a user or client id has"),
        (
            {"ip": "10.0.0.1", "quotas": {"producer_byte_rate": 1}},
            "quotas.producer_byte_rate is refused: an address has connection_creation_rate",
        ),
        ({"user": "u", "ip": "10.0.0.1", "quotas": {"no_such": 1}}, "IP entity"),
        ({"user": "u", "ip": "10.0.0.1", "quotas": {}}, "IP entity"),
        ({"user": "u", "quotas": {"producer_byte_rate": "1"}}, "quotas.producer_byte_rate='1'"),
        ({"user": "u"}, "quotas is missing"),
        ({"group": "g", "quotas": {}}, "there is no field group here"),
    ],
)
def test_what_kafka_would_refuse(http: Http, body: Any, names: str):
    got, said = http.post("/v1/quotas", body)
    assert (got, names in said["error"]) == (400, True), said
    assert http.good("GET", "/v1/quotas") == {"quotas": []}
