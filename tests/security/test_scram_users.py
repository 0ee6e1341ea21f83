"""SCRAM users as clients manage them: the same on the stub and on Apache Kafka 4.4.0."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafkawire.messages.describe_user_scram_credentials_request import DescribeUserScramCredentialsRequest, UserName
from tests.security.talk import Talk
from tests.waiting import until

NONE, MISSING, TWICE = ErrorCode.NONE, ErrorCode.RESOURCE_NOT_FOUND, ErrorCode.DUPLICATE_RESOURCE
BAD = ErrorCode.UNACCEPTABLE_CREDENTIAL


@pytest.fixture
def talk(servers: str) -> Iterator[Talk]:
    with Talk(servers) as one:
        yield one


def upsertion(user: str, mechanism: int = 1, iterations: int = 4096, password: str = "pw") -> ScramCredentialUpsertion:
    name = "sha512" if mechanism == 2 else "sha256"
    salted = hashlib.pbkdf2_hmac(name, password.encode(), b"salt", max(iterations, 1))
    return ScramCredentialUpsertion(user, mechanism, iterations, b"salt", salted)


def alter(talk: Talk, *changes: Any) -> dict[str, tuple[int, str | None]]:
    deletions = [one for one in changes if isinstance(one, ScramCredentialDeletion)]
    request = AlterUserScramCredentialsRequest(deletions, [one for one in changes if one not in deletions])
    answer = talk.ask(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, request)
    return {one.user: (one.error_code, one.error_message) for one in answer.results}


def describe(talk: Talk, *names: str) -> dict[str, tuple[int, str | None, list[tuple[int, int]]]]:
    request = DescribeUserScramCredentialsRequest([UserName(name) for name in names] if names else None)
    answer = talk.ask(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, request)
    assert answer.error_code == NONE
    return {
        one.user: (one.error_code, one.error_message, sorted((i.mechanism, i.iterations) for i in one.credential_infos))
        for one in answer.results
    }


@pytest.mark.behaviour("AU-1", "AU-2", "DU-1", "DU-2")
def test_a_user_comes_and_goes(talk: Talk, unique: Callable[[str], str]):
    """Kafka's broker learns of a change a moment after its controller."""
    user, other = unique("user"), unique("other")
    assert alter(talk, upsertion(user, 1, 5000)) == {user: (NONE, None)}
    assert alter(talk, upsertion(user, 2)) == {user: (NONE, None)}
    until(lambda: describe(talk, user)[user][2] == [(1, 5000), (2, 4096)], "both")
    missing = f"Attempt to describe a user credential that does not exist: {other}"
    assert describe(talk, other) == {other: (MISSING, missing, [])}
    twice = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
    assert describe(talk, user, user) == {user: (TWICE, twice, [])}
    assert describe(talk)[user][0] == NONE
    assert alter(talk, ScramCredentialDeletion(user, 1)) == {user: (NONE, None)}
    until(lambda: describe(talk, user)[user][2] == [(2, 4096)], "the second only")
    alter(talk, ScramCredentialDeletion(user, 2))
    until(lambda: describe(talk, user)[user][0] == MISSING, "neither")


@pytest.mark.behaviour("AU-2", "AU-3")
def test_what_is_refused(talk: Talk, unique: Callable[[str], str]):
    user, other, third = unique("user"), unique("other"), unique("third")
    changes = [
        ScramCredentialDeletion(other, 1),
        upsertion(third),
        upsertion(third, 2),
        upsertion("", 1),
        upsertion(user, 3),
    ]
    assert alter(talk, *changes) == {
        other: (MISSING, "Attempt to delete a user credential that does not exist"),
        third: (TWICE, "A user credential cannot be altered twice in the same request"),
        "": (BAD, "Username must not be empty"),
        user: (ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
    }
    assert alter(talk, upsertion(user, 1, 4095), upsertion(other, 1, 16385)) == {
        user: (BAD, "Too few iterations"),
        other: (BAD, "Too many iterations"),
    }


@pytest.mark.behaviour("AU-3")
def test_a_user_whose_salted_password_is_empty_is_not_made(talk: Talk, unique: Callable[[str], str]):
    user = unique("user")
    nothing = ScramCredentialUpsertion(user, 1, 4096, b"salt", b"")
    assert alter(talk, nothing) == {user: (ErrorCode.UNKNOWN_SERVER_ERROR, None)}
    assert alter(talk, upsertion(user), nothing)[user][0] == TWICE
    assert describe(talk, user)[user][0] == MISSING


@pytest.mark.behaviour("AU-4")
def test_they_are_answered_in_the_order_of_kafkas_map(talk: Talk):
    changes = [upsertion("a=b", 3), upsertion("ü", 1, 5), upsertion("", 1), upsertion("a,b", 1, 1)]
    assert list(alter(talk, *changes)) == ["", "a,b", "a=b", "ü"]


def test_they_outlive_the_process_and_count_at_once(tmp_path: Path):
    with KafkaStub(users={"root": "r"}, data_dir=tmp_path) as stub:
        with Talk(stub.bootstrap_servers) as talk:
            talk.scram("root", "r")
            alter(talk, upsertion("zoe", password="z"))
        with Talk(stub.bootstrap_servers) as talk:
            assert talk.scram("zoe", "z").error_code == NONE
    with KafkaStub(users={"root": "changed"}, data_dir=tmp_path) as stub:
        for user, password in (("zoe", "z"), ("root", "changed")):
            with Talk(stub.bootstrap_servers) as talk:
                assert talk.scram(user, password).error_code == NONE
