"""Names of configurations that Kafka does not have: which are refused, and which one is meant."""

from __future__ import annotations

import logging

import pytest

from kafkastub import ConfigError, KafkaStub
from kafkastub.config import BrokerConfig, Profile
from kafkastub.config.kafka_table import BROKER
from kafkastub.config.mistyped import question, slip
from tests.process.serving import Serving

SLIPS = {
    "offset.retention.minutes": "offsets.retention.minutes",
    "offsets.retention.minute": "offsets.retention.minutes",
    "offsets.retetnion.minutes": "offsets.retention.minutes",
    "OFFSETS_RETENTION_MINUTES": "offsets.retention.minutes",
    " offsets.retention.minutes": "offsets.retention.minutes",
    "group.initial.rebalance.delay": "group.initial.rebalance.delay.ms",
    "auto.create.topic.enable": "auto.create.topics.enable",
    "kafkastub.flsh": "kafkastub.flush",
    "listener.name.external.ssl.keystore.locaton": "listener.name.external.ssl.keystore.location",
}

IN_FILES = (
    "zookeeper.connect", "inter.broker.protocol.version", "log.message.format.version",
    "log.message.timestamp.difference.max.ms", "delegation.token.master.key", "advertised.host.name", "host.name",
    "port", "password.encoder.secret", "control.plane.listener.name", "offsets.commit.required.acks",
    "quota.producer.default", "confluent.metrics.reporter.bootstrap.servers", "my.metric.reporters",
    "retention.minutes", "listener.name.external.plain.sasl.jaas.config", "listener.name.external.my.plugin.url",
)  # fmt: skip
"""What stands in files of real brokers: names of older Kafkas, and of plug-ins."""


@pytest.mark.parametrize(("name", "meant"), SLIPS.items())
def test_a_slip_is_refused_with_the_name_that_is_meant(name: str, meant: str):
    with pytest.raises(ConfigError) as refused:
        KafkaStub(config={name: 1})
    assert f"{name} is refused: " in str(refused.value)
    assert f"is {meant} meant?" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "own"), [("retention.ms", "log.retention.ms"), ("cleanup.policy", "log.cleanup.policy")]
)
def test_a_topics_configuration_is_none_of_the_brokers(name: str, own: str):
    with pytest.raises(ConfigError, match=f"{name} is refused: it is a topic's configuration; .* is {own}"):
        KafkaStub(config={name: 1})


@pytest.mark.parametrize("name", IN_FILES)
def test_what_stands_in_files_of_real_brokers_is_taken_as_before(name: str):
    KafkaStub(config={name: 1})


def test_no_name_of_kafkas_is_a_slip_of_another_that_it_is_refused_for():
    assert BrokerConfig(None, Profile.named("kafka")).unknown == ()
    assert all(slip(name) for name in BROKER)


def test_a_warning_says_what_may_be_meant(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "kafkastub"), KafkaStub(config={"retention.minutes": 1, "no.such.key": 1}):
        one, other = (record.getMessage() for record in caplog.records if record.name == "kafkastub")
    assert "; is log.retention.minutes meant, or offsets.retention.minutes? key=retention.minutes" in one
    assert other == "configuration ignored: Kafka has no such name key=no.such.key"


def test_a_process_warns_of_slips_and_goes_on():
    with Serving("--config", "offset.retention.minutes=60") as process:
        assert "is offsets.retention.minutes meant?" in process.stderr


def test_nothing_comes_to_mind():
    assert question("zzz.yyy") == question("") == ""
