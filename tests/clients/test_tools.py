"""Kafka's own command-line tools print for the stub what they print for Apache Kafka, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub import KafkaStub
from tests.clients.histories import HISTORIES, settings_of
from tests.clients.jvm import Jvm
from tests.clients.tools import GOLDEN, Terminal
from tests.conftest import APACHE_CONFIG, CONFIG
from tests.oracle.apache_kafka import ApacheKafka


@pytest.mark.parametrize("name", HISTORIES)
def test_kafkas_tools_print_what_they_print_for_apache_kafka(jvm: Jvm, tmp_path: Path, name: str) -> None:
    with KafkaStub(config={**CONFIG, **settings_of(name)}) as stub:
        terminal = Terminal(jvm, stub.bootstrap_servers, tmp_path)
        HISTORIES[name](terminal)
    assert terminal.transcript == (GOLDEN / f"{name}.txt").read_text()


@pytest.mark.oracle
@pytest.mark.parametrize("name", HISTORIES)
def test_the_transcripts_are_apache_kafkas(jvm: Jvm, tmp_path: Path, name: str) -> None:
    with ApacheKafka(config={**APACHE_CONFIG, **settings_of(name)}) as kafka:
        terminal = Terminal(jvm, kafka.bootstrap_servers, tmp_path)
        HISTORIES[name](terminal)
    assert terminal.transcript == (GOLDEN / f"{name}.txt").read_text()
