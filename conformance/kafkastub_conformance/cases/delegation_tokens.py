"""Delegation tokens where nobody has signed in: the suite comes over listeners that ask for no credentials."""

from __future__ import annotations

from typing import Any

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.expecting import expect
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

SOURCE = "KIP-48, Kafka: KafkaApis.allowTokenRequests"
NOT_ALLOWED = {"error_code": E.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED}
NO_TIMES = {"issue_timestamp_ms": -1, "expiry_timestamp_ms": -1, "max_timestamp_ms": -1}
NO_TOKEN = {**NO_TIMES, "token_id": "", "hmac": b""}
ANONYMOUS = {"principal_type": "User", "principal_name": "ANONYMOUS"}
REQUESTER = {"token_requester_principal_type": "User", "token_requester_principal_name": "ANONYMOUS"}


@case("CreateDelegationToken", "On a PLAINTEXT listener: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.", source=SOURCE)
def over_plaintext(on: Broker) -> None:
    answer = on.ask("CreateDelegationToken", renewers=[], max_lifetime_ms=-1, owner_principal_name=None)
    expect(answer, **NOT_ALLOWED, **ANONYMOUS, **NO_TOKEN)


@case("CreateDelegationToken", "So it is whatever else is wrong: a renewer that is no User.", source=SOURCE)
def with_a_bad_renewer(on: Broker) -> None:
    renewers = [{"principal_type": "Group", "principal_name": on.name()}]
    answer = on.ask("CreateDelegationToken", renewers=renewers, max_lifetime_ms=-1, owner_principal_name=None)
    expect(answer, **NOT_ALLOWED, **NO_TOKEN)


@case(
    "CreateDelegationToken",
    "The answer names the requested owner and the requester.",
    source="KIP-373",
    versions=(3, 3),
)
def of_another_owner(on: Broker) -> None:
    name = on.name()
    owner: dict[str, Any] = {"owner_principal_type": "User", "owner_principal_name": name}
    answer = on.ask("CreateDelegationToken", renewers=[], max_lifetime_ms=-1, **owner)
    expect(answer, **NOT_ALLOWED, principal_type="User", principal_name=name, **REQUESTER, **NO_TOKEN)


@case(
    "CreateDelegationToken",
    "An owner with a name and without a type: UNKNOWN_SERVER_ERROR, with nobody's name.",
    source="Kafka: KafkaPrincipal, CreateDelegationTokenRequest.getErrorResponse",
    versions=(3, 3),
)
def of_an_owner_without_a_type(on: Broker) -> None:
    owner: dict[str, Any] = {"owner_principal_type": None, "owner_principal_name": on.name()}
    answer = on.ask("CreateDelegationToken", renewers=[], max_lifetime_ms=-1, **owner)
    expect(answer, error_code=E.UNKNOWN_SERVER_ERROR, **ANONYMOUS, **REQUESTER, **NO_TOKEN)


@case("RenewDelegationToken", "On a PLAINTEXT listener: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.", source=SOURCE)
def renewed_over_plaintext(on: Broker) -> None:
    for key in (b"", b"hmac" * 16):
        answer = on.ask("RenewDelegationToken", hmac=key, renew_period_ms=-1)
        expect(answer, **NOT_ALLOWED, expiry_timestamp_ms=-1)


@case("ExpireDelegationToken", "On a PLAINTEXT listener: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.", source=SOURCE)
def expired_over_plaintext(on: Broker) -> None:
    for period in (-1, 0, 1000):
        answer = on.ask("ExpireDelegationToken", hmac=b"hmac" * 16, expiry_time_period_ms=period)
        expect(answer, **NOT_ALLOWED, expiry_timestamp_ms=-1)


@case("DescribeDelegationToken", "On a PLAINTEXT listener: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.", source=SOURCE)
def described_over_plaintext(on: Broker) -> None:
    for owners in (None, [], [{"principal_type": "User", "principal_name": on.name()}]):
        expect(on.ask("DescribeDelegationToken", owners=owners), **NOT_ALLOWED, tokens=[])
