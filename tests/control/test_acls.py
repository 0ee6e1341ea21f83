"""/v1/acls: who may do what, from outside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.security.access import CLASS_NAME, STANDARD_AUTHORIZER, SUPER_USERS
from tests.conftest import CONFIG
from tests.control.conftest import Http

READ = {"resource_type": "TOPIC", "resource_name": "orders", "principal": "User:alice", "operation": "READ"}
WHOLE = {**READ, "pattern_type": "LITERAL", "host": "*", "permission": "ALLOW"}


@pytest.fixture
def stub() -> Iterator[KafkaStub]:
    config = {**CONFIG, CLASS_NAME: STANDARD_AUTHORIZER, SUPER_USERS: "User:admin"}
    with KafkaStub(topics={"orders": 1}, config=config, control_port=0) as stub:
        yield stub


def may(http: Http, **asked: Any) -> bool:
    return bool(http.good("GET", "/v1/acls/access", **{**READ, **asked})["allowed"])


def test_an_entry_counts_from_when_it_is_added_until_it_is_removed(http: Http) -> None:
    assert not may(http)
    assert http.good("POST", "/v1/acls", READ) == WHOLE
    assert may(http)
    assert may(http, operation="DESCRIBE")
    assert not may(http, operation="WRITE")
    assert not may(http, principal="User:bob")
    assert http.good("DELETE", "/v1/acls", principal="User:alice") == {"removed": 1}
    assert not may(http)


def test_entries_are_listed_and_filtered(http: Http) -> None:
    http.good("POST", "/v1/acls", READ)
    http.good("POST", "/v1/acls", READ)
    other = {**READ, "resource_type": "GROUP", "resource_name": "pay", "pattern_type": "PREFIXED", "permission": "DENY"}
    http.good("POST", "/v1/acls", other)
    found = http.good("GET", "/v1/acls")
    assert (found["authorizer"], found["super_users"], found["everyone_without_acl"]) == (True, ["User:admin"], False)
    assert (found["acls"], found["total"]) == ([WHOLE, {**other, "host": "*"}], 2)
    page = http.good("GET", "/v1/acls", offset=1, limit=1)
    assert ([one["resource_name"] for one in page["acls"]], page["total"]) == (["pay"], 2)
    match = {"resource_type": "GROUP", "resource_name": "payments", "pattern_type": "MATCH"}
    assert http.good("GET", "/v1/acls", **match)["total"] == 1
    assert http.good("GET", "/v1/acls", permission="DENY", operation="READ")["total"] == 1


def test_why_somebody_may(http: Http) -> None:
    http.good("POST", "/v1/acls", READ)
    found = http.good("GET", "/v1/acls/access", **READ)
    assert found == {"allowed": True, "super_user": False, "concerning": [WHOLE]}
    found = http.good("GET", "/v1/acls/access", **{**READ, "principal": "User:admin", "operation": "ALTER"})
    assert (found["allowed"], found["super_user"]) == (True, True)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({**READ, "resource_type": "TABLE"}, "resource_type='TABLE'"),
        ({**READ, "pattern_type": "MATCH"}, "pattern_type='MATCH'"),
        ({**READ, "principal": "alice"}, "no colon is present"),
        ({**READ, "resource_name": ""}, "Invalid empty resource name"),
        ({**READ, "resource_type": "CLUSTER"}, "The only valid name for the CLUSTER resource"),
        ({**READ, "host": "10.0.0.0/99"}, "10.0.0.0/99"),
        ({"principal": "User:alice"}, "is missing"),
    ],
)
def test_what_kafka_would_refuse(http: Http, body: Any, names: str) -> None:
    assert names in http.refusal("POST", "/v1/acls", body)


def test_without_an_authorizer_nobody_is_asked() -> None:
    with KafkaStub(control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            found = http.good("GET", "/v1/acls")
            assert (found["authorizer"], found["everyone_without_acl"], found["acls"]) == (False, True, [])
            for status, said in (http.post("/v1/acls", READ), http.delete("/v1/acls")):
                assert (status, said["code"]) == (409, "SECURITY_DISABLED")
