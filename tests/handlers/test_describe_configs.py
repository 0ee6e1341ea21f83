"""DescribeConfigs: values, where they come from, what is hidden."""

from __future__ import annotations

import pytest

from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from tests.handlers.in_process import InProcess
from tests.handlers.topic_scenario import BROKER, CLIENT_METRICS, GROUP, LOGGER, TOPIC


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess({"log.segment.bytes": 2000000, "ssl.key.password": "secret", "not.kafkas": "secret"})
    create_topic(broker.state, "a", configs={"retention.ms": " 5"})
    return broker


def ask(broker: InProcess, *resources: tuple[int, str], keys: list[str] | None = None, version: int = 4):
    asked = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for kind, name in resources
    ]
    return broker.ask(DescribeConfigsRequest(resources=asked, include_synonyms=True), version).results


def entries(broker: InProcess, kind: int, name: str, **options):
    (result,) = ask(broker, (kind, name), **options)
    assert result.error_code == ErrorCode.NONE
    return {entry.name: entry for entry in result.configs}


@pytest.mark.behaviour("DC-1")
@pytest.mark.parametrize("version", range(1, 5))
def test_a_topic(broker: InProcess, version: int):
    told = entries(broker, TOPIC, "a", version=version)
    assert len(told) == 37
    assert (told["retention.ms"].value, told["retention.ms"].config_source) == ("5", 1)
    assert (told["segment.bytes"].value, told["segment.bytes"].config_source) == ("2000000", 4)
    assert (told["cleanup.policy"].value, told["cleanup.policy"].config_source) == ("delete", 5)
    assert not any(entry.read_only for entry in told.values())


@pytest.mark.behaviour("DC-1")
def test_no_topic(broker: InProcess):
    assert [result.error_code for result in ask(broker, (TOPIC, "nope"), (TOPIC, "a/b"))] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]


@pytest.mark.behaviour("DC-2")
def test_the_broker(broker: InProcess):
    told = entries(broker, BROKER, "1")
    retention = told["offsets.retention.minutes"]
    assert (retention.value, retention.config_source, retention.read_only) == ("10080", 5, True)
    segment = told["log.segment.bytes"]
    assert (segment.value, segment.config_source, segment.read_only) == ("2000000", 4, False)


@pytest.mark.behaviour("DC-3")
def test_all_brokers(broker: InProcess):
    assert {name: entry.value for name, entry in entries(broker, BROKER, "").items()} == {"min.insync.replicas": "1"}


@pytest.mark.behaviour("DC-4")
@pytest.mark.parametrize("name", ["2", "x"])
def test_another_broker(broker: InProcess, name: str):
    assert ask(broker, (BROKER, name))[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.behaviour("DC-5")
@pytest.mark.parametrize("name", ["ssl.key.password", "not.kafkas"])
def test_secrets_stay(broker: InProcess, name: str):
    entry = entries(broker, BROKER, "1")[name]
    assert (entry.is_sensitive, entry.value) == (True, None)
    assert [synonym.value for synonym in entry.synonyms] == [None]


@pytest.mark.behaviour("DC-6")
def test_keys_pick(broker: InProcess):
    assert list(entries(broker, TOPIC, "a", keys=["retention.ms", "nope"])) == ["retention.ms"]
    assert len(entries(broker, TOPIC, "a", keys=[])) == 37


@pytest.mark.behaviour("DC-7")
def test_synonyms_by_precedence(broker: InProcess):
    told = entries(broker, TOPIC, "a")["retention.ms"].synonyms
    assert [(synonym.name, synonym.value, synonym.source) for synonym in told] == [
        ("retention.ms", "5", 1),
        ("log.retention.ms", "-1", 4),
        ("log.retention.hours", "168", 5),
    ]
    resource = DescribeConfigsResource(resource_type=TOPIC, resource_name="a", configuration_keys=["retention.ms"])
    (result,) = broker.ask(DescribeConfigsRequest(resources=[resource])).results
    assert result.configs[0].synonyms == ()


@pytest.mark.behaviour("DC-8")
def test_types(broker: InProcess):
    told = entries(broker, BROKER, "1")
    names = (
        "auto.create.topics.enable compression.type num.partitions default.replication.factor log.retention.ms "
        "log.cleaner.min.cleanable.ratio log.cleanup.policy principal.builder.class ssl.key.password not.kafkas"
    )
    types = [told[name].config_type for name in names.split()]
    assert types == [1, 2, 3, 3, 5, 6, 7, 8, 9, 0]


@pytest.mark.behaviour("DC-9")
def test_groups_and_client_metrics(broker: InProcess):
    assert entries(broker, GROUP, "g")["consumer.session.timeout.ms"].value == "45000"
    assert entries(broker, CLIENT_METRICS, "m")["interval.ms"].value == "300000"
    results = ask(broker, (GROUP, ""), (CLIENT_METRICS, ""))
    assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST] * 2


@pytest.mark.behaviour("DC-10")
def test_loggers(broker: InProcess):
    assert entries(broker, LOGGER, "1")["root"].value == "INFO"
    results = ask(broker, (LOGGER, "2"), (LOGGER, ""), (LOGGER, "x"))
    assert [result.error_code for result in results] == [ErrorCode.INVALID_REQUEST] * 3


@pytest.mark.behaviour("DC-11")
def test_an_unknown_type_spoils_the_request(broker: InProcess):
    results = ask(broker, (TOPIC, "a"), (3, "a"))
    assert [(result.error_code, result.configs) for result in results] == [(ErrorCode.INVALID_REQUEST, ())] * 2


@pytest.mark.behaviour("DC-12")
def test_a_resource_named_twice_is_answered_twice(broker: InProcess):
    assert [result.resource_name for result in ask(broker, (TOPIC, "a"), (TOPIC, "a"))] == ["a", "a"]


def documented(broker: InProcess, kind: int, name: str, version: int = 4, wanted: bool = True) -> dict[str, str | None]:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
    request = DescribeConfigsRequest(resources=[resource], include_documentation=wanted)
    return {entry.name: entry.documentation for entry in broker.ask(request, version).results[0].configs}


@pytest.mark.behaviour("DC-13")
def test_documentation(broker: InProcess):
    for kind, name in ((TOPIC, "a"), (BROKER, "1"), (GROUP, "g")):
        assert set(documented(broker, kind, name, wanted=False).values()) == {None}
    texts = documented(broker, TOPIC, "a", 3)
    assert all(text and text.endswith(".") for text in texts.values())
    assert "retention.ms" in texts
    brokers = documented(broker, BROKER, "1")
    undocumented = [name for name in brokers if name.startswith(("offsets.", "group.")) and not brokers[name]]
    assert undocumented == []
    retention = brokers["log.retention.ms"]
    assert retention is not None
    assert retention.endswith(str(texts["retention.ms"]))
    assert brokers["ssl.protocol"] is None
    assert documented(broker, GROUP, "g")["consumer.session.timeout.ms"]


@pytest.mark.behaviour("DC-14")
def test_what_clients_are_told_is_static_though_nobody_configured_it():
    broker = InProcess()
    resource = DescribeConfigsResource(4, "1", ["advertised.listeners"])
    answer = broker.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True))
    (told,) = answer.results[0].configs
    assert (told.value, told.config_source) == ("PLAINTEXT://node-1:9001", 4)
    assert [(one.name, one.value, one.source) for one in told.synonyms] == [
        ("advertised.listeners", "PLAINTEXT://node-1:9001", 4)
    ]


@pytest.mark.behaviour("DC-15")
def test_what_is_internal_is_shown_once_somebody_has_set_it():
    offload = "consumer.assignor.offload.enable"
    assert offload not in entries(InProcess(), GROUP, "g")
    assert entries(InProcess({"group." + offload: False}), GROUP, "g")[offload].value == "false"
    broker = InProcess()
    broker.state.cluster.group_configs["g"] = {offload: "False"}
    assert (entries(broker, GROUP, "g")[offload].value, offload in entries(broker, GROUP, "other")) == ("False", False)
