"""Every API under every set of entries answers as Apache Kafka 4.4.0 with its StandardAuthorizer."""

from __future__ import annotations

import pytest

from kafkastub import KafkaStub
from kafkastub.handlers.registry import registrations
from kafkastub.layers.acls.guards import ASK_THEMSELVES, GUARDS, OPEN
from kafkawire.api import ApiKey
from tests.oracle.apache_kafka import ApacheKafka
from tests.security import matrix_again as again
from tests.security.going import GOING
from tests.security.matrix import OTHER, SEEN, acl_sets, cells
from tests.security.matrix_player import CONFIG, Player, differences, has_second_address, recorded

needs_two_addresses = pytest.mark.skipif(
    not has_second_address(), reason="this machine has no second loopback address, 127.0.0.2"
)


def test_the_recording_is_of_this_matrix():
    answers, names = recorded(), {name for name, _ in acl_sets()}
    assert list(answers) == [cell.title for cell in cells({SEEN: b"1" * 16, OTHER: b"2" * 16, "pet": b"3" * 16})]
    assert all({name for sets in each.values() for name in sets} == names for each in answers.values())


def test_every_api_is_either_guarded_or_for_everybody():
    assert registrations().keys() <= GUARDS.keys() | OPEN | ASK_THEMSELVES
    assert not GUARDS.keys() & (OPEN | ASK_THEMSELVES)


BY_WHO_SIGNS_IN = {ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.DESCRIBE_DELEGATION_TOKEN}
"""Not for those who are told apart by their addresses: see `delegation_steps`."""


def test_every_api_that_is_guarded_is_in_the_matrix():
    asked = {cell.key for cell in cells({SEEN: b"1" * 16, OTHER: b"2" * 16, "pet": b"3" * 16})}
    assert (GUARDS.keys() | ASK_THEMSELVES) & registrations().keys() <= asked | BY_WHO_SIGNS_IN


@needs_two_addresses
@pytest.mark.behaviour("FE-19")
@pytest.mark.behaviour("CG-7")
@pytest.mark.behaviour("CD-9")
@pytest.mark.behaviour("TU-3")
def test_the_stub_answers_as_recorded():
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        player = Player(stub.bootstrap_servers)
        try:
            assert differences(player.play()) == {}
        finally:
            player.close()


@needs_two_addresses
@pytest.mark.oracle
def test_apache_kafka_answers_as_recorded():
    with ApacheKafka(config=CONFIG) as kafka:
        player = Player(kafka.bootstrap_servers)
        try:
            assert differences(player.play()) == {}
        finally:
            player.close()


def test_the_recording_of_the_second_and_third_time_is_of_this_matrix():
    titles = [cell.title for cell in cells({SEEN: b"1" * 16, OTHER: b"2" * 16, "pet": b"3" * 16})]
    assert list(again.recorded()) == [*titles, *GOING, "fetch that waits"]


@needs_two_addresses
@pytest.mark.behaviour("FE-19", "SF-22", "AK-11")
def test_the_stub_answers_again_as_recorded():
    """With an entry that was deleted between two requests of one connection, and came back."""
    with KafkaStub(profile="kafka", config=CONFIG) as stub:
        player = again.PlayerAgain(stub.bootstrap_servers)
        try:
            assert again.differences(player.again()) == {}
        finally:
            player.close()


@needs_two_addresses
@pytest.mark.oracle
def test_apache_kafka_answers_again_as_recorded():
    with ApacheKafka(config=CONFIG) as kafka:
        player = again.PlayerAgain(kafka.bootstrap_servers)
        try:
            assert again.differences(player.again()) == {}
        finally:
            player.close()
