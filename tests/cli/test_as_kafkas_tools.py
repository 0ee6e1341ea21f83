"""`kafkastub groups` and `kafkastub topics` print what Kafka's own tools print for the same broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.cli.kafkas_tools import OurTerminal, comparable
from tests.clients.histories import HISTORIES, settings_of
from tests.clients.jvm import Jvm
from tests.clients.tools import GOLDEN
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.oracle.apache_kafka import ApacheKafka

OURS = [name for name in HISTORIES if name not in ("features", "quorum", "quotas")]
"""Those with tools that we have commands for: none for kafka-features, kafka-metadata-quorum and kafka-configs."""


@pytest.mark.parametrize("name", OURS)
def test_our_commands_print_for_the_stub_what_kafkas_print_for_apache_kafka(jvm: Jvm, tmp_path: Path, name: str):
    with KafkaStub(config={**CONFIG, **settings_of(name)}) as stub:
        terminal = OurTerminal(jvm, stub.bootstrap_servers, tmp_path)
        HISTORIES[name](terminal)
    assert terminal.tools.ran
    assert comparable(terminal.transcript) == comparable((GOLDEN / f"{name}.txt").read_text())


@pytest.mark.oracle
@pytest.mark.parametrize("name", OURS)
def test_our_commands_print_for_apache_kafka_what_kafkas_print(jvm: Jvm, tmp_path: Path, name: str):
    with ApacheKafka(config={**APACHE_CONFIG, **settings_of(name)}) as kafka:
        terminal = OurTerminal(jvm, kafka.bootstrap_servers, tmp_path)
        HISTORIES[name](terminal)
    assert comparable(terminal.transcript) == comparable((GOLDEN / f"{name}.txt").read_text())
