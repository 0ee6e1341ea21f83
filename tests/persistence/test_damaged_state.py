"""kafkastub.json with something else in any of its fields: refused in one sentence that names it, or no harm done."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
import structlog

from kafkastub import DataDirError, KafkaStub
from kafkastub.config import BrokerConfig, Profile
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.server.data_directory import BrokerDirectory
from kafkawire.messages.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.unregister_broker_request import UnregisterBrokerRequest
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from tests.conftest import CONFIG
from tests.persistence.speaker import Speaker
from tests.process.serving import refused

AUTHORIZED: Final = {
    **CONFIG,
    "transaction.state.log.num.partitions": 1,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
STRANGE: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 1, 1.5, float("nan"), float("inf"), 1 << 31, 1 << 63, 10**400, "", "x", "../x", "a\ud800",
    [], [[]], [None], [1], ["x"], {}, {"a": 1}, {"": None}, {"x": "y"},
)  # fmt: skip


TOKEN = ["an id", ["User", "alice"], ["User", "bob"], [["User", "carol"]], 1_700_000_000_000, 1 << 62, 1 << 62]
"""A delegation token."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that has something of everything."""
    path = tmp_path_factory.mktemp("data")
    with KafkaStub(config=AUTHORIZED, data_dir=path) as stub, Speaker(stub.bootstrap_servers) as speaker:
        stub.create_topic("orders", 2, {"retention.ms": "5"})
        stub.set_quota(client_id="c", user="u", producer_byte_rate=1000)
        stub.clock.freeze()
        speaker.producer_id("payments")
        acl = AclCreation(2, "orders", 3, "User:alice", "*", 3, 3)
        assert speaker.ask(CreateAclsRequest([acl]), 3).results[0].error_code == 0
        user = ScramCredentialUpsertion("alice", 1, 4096, b"salt", b"password")
        assert speaker.ask(AlterUserScramCredentialsRequest([], [user]), 0).results[0].error_code == 0
        feature = FeatureUpdateKey("share.version", 1, upgrade_type=2)
        assert speaker.ask(UpdateFeaturesRequest(1000, [feature]), 2).error_code == 0
        for kind, name, key, value in (
            (4, "1", "log.cleaner.threads", "2"),
            (16, "m", "interval.ms", "1000"),
            (32, "g", "consumer.session.timeout.ms", "46000"),
        ):
            resource = AlterConfigsResource(kind, name, [AlterableConfig(key, 0, value)])
            assert speaker.ask(IncrementalAlterConfigsRequest([resource]), 1).responses[0].error_code == 0
        assert speaker.ask(UnregisterBrokerRequest(1), 0).error_code == 0
    state = path / "kafkastub.json"
    document = json.loads(state.read_bytes())
    document["delegation_tokens"] = [TOKEN]  # they are for who has signed in, which nobody has here
    state.write_text(json.dumps(document))
    return path


@pytest.fixture
def document(directory: Path) -> Iterator[Any]:
    before = (directory / "kafkastub.json").read_bytes()
    yield json.loads(before)
    (directory / "kafkastub.json").write_bytes(before)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where there is something, from the whole document on."""
    yield at
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(one, (*at, key))


def put(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    """The document with something else there."""
    if not at:
        return value
    changed = deepcopy(document)
    place = changed
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = value
    return changed


def without(document: Any, at: tuple[Any, ...]) -> Any:
    changed = deepcopy(document)
    place = changed
    for key in at[:-1]:
        place = place[key]
    del place[at[-1]]
    return changed


def starts(directory: Path, *contents: bytes) -> list[str | None]:
    """Of each: what the start says against it, None where it begins."""
    config, nodes = BrokerConfig(AUTHORIZED, Profile.named("kips")), [Node(1, "127.0.0.1", 1)]

    async def start(content: bytes) -> str | None:
        (directory / "kafkastub.json").write_bytes(content)
        kept = BrokerDirectory(directory, config, structlog.get_logger(), Clock())
        try:
            kept.restored(nodes)
        except DataDirError as error:
            return str(error)
        await kept.close()
        return None

    async def all_of_them() -> list[str | None]:
        return [await start(content) for content in contents]

    return asyncio.run(all_of_them())


def test_the_document_has_something_of_everything(directory: Path, document: Any):
    assert [name for name, value in document.items() if not value] == []
    assert starts(directory, json.dumps(document).encode()) == [None]


SENTENCE = re.compile(
    r"the data directory \S+ (is damaged: kafkastub\.json: |has a configuration of old: )[^\n]{5,300}"
)


def test_anything_anywhere_is_refused_in_a_sentence_or_of_no_consequence(directory: Path, document: Any):
    """No KeyError, no TypeError, nothing but what says which field."""
    where = list(paths(document))
    assert len(where) > 60
    contents = [json.dumps(put(document, at, value)).encode() for at in where for value in STRANGE]
    contents += [json.dumps(without(document, at)).encode() for at in where if at]
    told = starts(directory, *contents)
    assert [one for one in told if one is not None and SENTENCE.fullmatch(one) is None] == []
    assert [
        one for one in told if one is not None and re.search(r"Error\b|object has no|unhashable|argument", one)
    ] == []
    assert sum(one is not None for one in told) > len(told) / 2


@pytest.mark.parametrize(
    ("at", "value", "sentence"),
    [
        ((), [], "the document is a list; expected an object"),
        (("topics", 0, "partitions", 1, "leader"), "1", "topics[0].partitions[1].leader is a text; expected a whole "
         "number from -1 to 2147483647"),
        (("topics", 0, "name"), "../../etc", "topics[0].name is a text; expected a topic's name"),
        (("topics", 0, "id"), "x", "topics[0].id is a text; expected a uuid of 22 characters"),
        (("topics", 0, "partitions", 0, "log_start_offset"), -1, "topics[0].partitions[0].log_start_offset is -1; "
         "expected a whole number from 0 to 9223372036854775807"),
        (("clock", "frozen_at"), True, "clock.frozen_at is true or false; expected a whole number from "
         "-9007199254740992 to 9007199254740992"),
        (("scram", 0, 3), "secret!", "scram[0][3] is a text; expected base64"),
        (("delegation_tokens", 0, 1), ["User"], "delegation_tokens[0][1] is a list; expected a list of 2"),
        (("acls", 0), {}, "acls[0] is an object; expected a list of 7"),
        (("group_configs", "g"), None, "group_configs['g'] is null; expected an object"),
        (("quotas", 0, 0, 0, 0), "nobody", "Unhandled client quota entity type: nobody"),
        (("client_metrics_configs", "m", "interval.ms"), "1", "Invalid value 1 for interval.ms"),
    ],
)  # fmt: skip
def test_the_field_is_named(directory: Path, document: Any, at: tuple[Any, ...], value: Any, sentence: str):
    (told,) = starts(directory, json.dumps(put(document, at, value)).encode())
    assert told is not None
    assert sentence in told


def test_a_field_that_is_missing_is_named(directory: Path, document: Any):
    told = starts(
        directory,
        json.dumps(without(document, ("topics", 0, "partitions", 0, "isr"))).encode(),
        json.dumps(without(document, ("clock",))).encode(),
        json.dumps({**document, "topics": document["topics"] * 2}).encode(),
    )
    assert [str(one).partition("kafkastub.json: ")[2] for one in told] == [
        "topics[0].partitions[0].isr is missing",
        "clock is missing",
        f"topics[{len(document['topics'])}].name is that of topics[0] too",
    ]


def test_no_json_at_all_is_refused(directory: Path, document: Any):
    whole = json.dumps(document).encode()
    cut = [whole[:length] for length in range(0, len(whole), 50)]
    told = starts(directory, *cut, b"\xff" + whole, b"[" * 100_000, b"9" * 10_000, b"null")
    assert [one for one in told if one is None or SENTENCE.fullmatch(one) is None] == []


def test_a_process_ends_with_that_sentence(directory: Path, document: Any):
    (directory / "kafkastub.json").write_text(json.dumps(put(document, ("topics", 0, "partitions"), 3)))
    where = f"kafkastub: the data directory {directory} is damaged: kafkastub.json: "
    why = "topics[0].partitions is 3; expected a list that is not empty\n"
    assert refused("--port", "0", "--data-dir", str(directory)) == (2, where + why)
