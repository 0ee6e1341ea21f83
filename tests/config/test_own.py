"""The stub's own configuration entries: what no Kafka has."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from kafkastub import KafkaStub
from kafkastub.config import PROFILES, BrokerConfig, ConfigError, Profile
from kafkastub.config.own import OWN, PROFILE
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from tests.faults.test_on_the_wire import commit
from tests.handlers.in_process import InProcess
from tests.rawclient import RawClient

KIPS = Profile.named("kips")


def test_every_question_of_the_profile_has_an_entry():
    assert set(PROFILE.values()) == {field.name for field in fields(Profile)} - {"name"}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_without_entries_the_profile_is_as_it_is(profile: Profile):
    config = BrokerConfig(None, profile)
    assert config.profile == profile
    assert {name: config[name] for name in PROFILE} == {
        name: getattr(profile, field) for name, field in PROFILE.items()
    }


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("kafkastub.illegal.offset.commit.code", "72", 72),
        ("kafkastub.illegal.offset.commit.code", 72, 72),
        ("kafkastub.empty.group.commit.refused.from", "5", 5),
        ("kafkastub.empty.group.commit.refused.from", "none", None),
        ("kafkastub.empty.group.commit.refused.from", None, None),
        ("kafkastub.explicit.retention.ignores.state", "FALSE", False),
        ("kafkastub.infinite.retention.allowed", False, False),
    ],
)
def test_an_entry_wins_over_its_profile(name: str, given: object, value: object):
    config = BrokerConfig({name: given}, KIPS)
    assert config[name] == value
    assert asdict(config.profile) == asdict(KIPS) | {PROFILE[name]: value}
    assert config.unknown == ()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("kafkastub.illegal.offset.commit.code", "x", "a whole number of 16 bits, at least 1"),
        ("kafkastub.illegal.offset.commit.code", None, "a whole number of 16 bits, at least 1"),
        ("kafkastub.empty.group.commit.refused.from", -1, "a whole number of 16 bits, at least 0, or none"),
        ("kafkastub.empty.group.commit.warns", "perhaps", "true or false"),
        ("kafkastub.empty.group.commit.warns", "none", "true or false"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(name: str, value: object, allowed: str):
    with pytest.raises(ConfigError) as refused:
        BrokerConfig({name: value}, KIPS)
    assert str(refused.value) == f"{name}={value} is refused: allowed is {allowed}"


def test_a_slip_of_the_pen_is_refused_too():
    with pytest.raises(ConfigError, match=r"kafkastub\.ilegal\.code is refused: known are kafkastub\."):
        BrokerConfig({"kafkastub.ilegal.code": 72}, KIPS)


def test_an_entry_decides_what_else_is_allowed():
    with pytest.raises(ConfigError, match=r"offsets\.retention\.minutes=-1"):
        BrokerConfig({"offsets.retention.minutes": -1, "kafkastub.infinite.retention.allowed": False}, KIPS)
    allowed = {"offsets.retention.minutes": -1, "kafkastub.infinite.retention.allowed": True}
    assert BrokerConfig(allowed, Profile.named("kafka"))["offsets.retention.minutes"] == -1


def test_they_stay_when_the_broker_is_configured_anew():
    config = BrokerConfig({"kafkastub.illegal.offset.commit.code": 72}, KIPS)
    config.set_dynamic({"log.retention.ms": "5"}, per_broker=True)
    assert config["kafkastub.illegal.offset.commit.code"] == 72


def test_clients_are_not_shown_them():
    broker = InProcess({"kafkastub.illegal.offset.commit.code": 72, "kafkastub.offsets.history.records": 5})
    answer = broker.ask(DescribeConfigsRequest(resources=[DescribeConfigsResource(resource_type=4, resource_name="1")]))
    told = [entry.name for entry in answer.results[0].configs]
    assert [name for name in told if name in OWN or name in PROFILE or name.startswith("kafkastub")] == []


def test_a_stub_takes_them_as_configuration():
    config = {"kafkastub.illegal.offset.commit.code": "72"}
    with KafkaStub(topics={"a": 1}, config=config) as stub, RawClient(stub.bootstrap_servers) as client:
        assert commit(client, group="") == {("a", 0): 72}
