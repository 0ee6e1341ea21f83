"""Replaying a journal: real clients' requests, once more on a fresh stub."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from kafkastub import KafkaStub, replay
from kafkastub.cli import main
from tests.journal.test_journal import CONFIG
from tests.waiting import SECONDS

CONFIGURED = {**CONFIG, "offsets.retention.minutes": 60}


async def _played(stub: KafkaStub) -> None:
    """A consumer reads, commits and leaves."""
    servers = stub.bootstrap_servers
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(3):
            await producer.send_and_wait("orders", b"%d" % number)
    consumer = AIOKafkaConsumer(
        "orders", bootstrap_servers=servers, group_id="billing", auto_offset_reset="earliest", enable_auto_commit=False
    )
    await consumer.start()
    for _ in range(3):
        await asyncio.wait_for(consumer.getone(), SECONDS)
    await consumer.commit()
    await consumer.stop()


def _state(stub: KafkaStub) -> tuple[object, ...]:
    state = stub._running().state
    group = state.coordinator.groups.get("billing")
    return stub.metrics(), group and (group.state, group.generation, len(group.members))


async def test_a_fresh_stub_ends_up_like_the_one_that_was_written_down(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, config=CONFIGURED, journal=tmp_path) as first:
        await _played(first)
        first.clock.freeze()
        first.clock.advance(minutes=30)
        kept, when = _state(first), first.clock.now_ms()
    with KafkaStub(topics={"orders": 1}, config=CONFIGURED) as second:
        done = await asyncio.to_thread(replay, tmp_path, second)
        assert done.differences == []
        assert done.requests == done.answers > 10
        assert _state(second) == kept
        assert second.clock.now_ms() == when


async def test_another_configuration_is_seen_in_the_answers(tmp_path: Path) -> None:
    with KafkaStub(topics={"orders": 1}, config=CONFIGURED, journal=tmp_path) as first:
        await _played(first)
    with KafkaStub(topics={"orders": 1}, config={**CONFIGURED, "group.max.session.timeout.ms": 6000}) as second:
        done = await asyncio.to_thread(replay, tmp_path, second)
        assert any("JoinGroup" in line and "26" in line for line in done.differences)


async def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaStub(topics={"orders": 1}, config=CONFIGURED, journal=tmp_path / "journal") as first:
        await _played(first)
    command = ["replay", str(tmp_path / "journal"), "--topic", "orders:1", "--config"]
    settings = ["group.initial.rebalance.delay.ms=0"]
    assert await asyncio.to_thread(main, [*command, *settings]) == 0
    assert " answers, 0 with other errors" in capsys.readouterr().out
    assert await asyncio.to_thread(main, [*command, *settings, "group.max.session.timeout.ms=6000"]) == 1
    assert "JoinGroup" in capsys.readouterr().out
    assert await asyncio.to_thread(main, ["replay", str(tmp_path / "nowhere")]) != 0
    assert "holds no journal" in capsys.readouterr().err


def test_a_request_whose_secrets_were_taken_out_is_skipped_and_those_behind_it_are_answered(tmp_path: Path) -> None:
    secret = ConfigEntry("ssl.key.password", "hush", incremental_operation=AlterConfigOpType.SET)
    with KafkaStub(journal=tmp_path / "journal") as stub:
        admin = AdminClient({"bootstrap.servers": stub.bootstrap_servers})
        resource = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=[secret])
        with suppress(KafkaException):  # the stub may refuse it: what counts is that it was sent
            admin.incremental_alter_configs([resource])[resource].result(10)
        admin.list_topics(timeout=10)
    with KafkaStub() as fresh:
        replayed = replay(tmp_path / "journal", fresh)
    assert replayed.skipped == 1
    assert replayed.differences == []
