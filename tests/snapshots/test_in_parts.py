"""A snapshot that is put back part by part, while others are served."""

from __future__ import annotations

import pytest

from kafkastub.config import ConfigError
from kafkastub.metadata import Node
from kafkastub.server.clock import Clock
from kafkastub.state.broker_state import BrokerState
from kafkastub.state.snapshots.putting_back import put_back
from kafkastub.state.snapshots.saved import SavedState, SnapshotError
from kafkastub.state.snapshots.taking import take
from tests.handlers.desk import START_MS, Desk

SAVED, NOW, ALTERED = ({"log.retention.ms": str(number)} for number in (1000, 2000, 3000))


def saved_with(config: dict[str, str]) -> tuple[Desk, SavedState]:
    desk = Desk()
    desk.topic("wide", 5000)
    desk.state.config.set_dynamic(config, per_broker=False)
    return desk, take(desk.state, Clock())


def parts_of(desk: Desk, saved: SavedState):
    return put_back(saved, desk.state.config, [Node(1)], None, None, (START_MS, 0))


def test_the_configuration_is_the_old_one_until_all_is_put_back():
    desk, saved = saved_with(SAVED)
    config = desk.state.config
    config.set_dynamic(NOW, per_broker=False)
    steps, seen, state = parts_of(desk, saved), [], None
    while state is None:
        try:
            next(steps)
        except StopIteration as end:
            state = end.value
        else:
            seen.append(config["log.retention.ms"])
            if len(seen) == 2:
                config.set_dynamic(ALTERED, per_broker=False)
    assert isinstance(state, BrokerState)
    assert seen == [2000, 2000, *[3000] * (len(seen) - 2)]
    assert len(seen) > 2
    assert config.dynamic_default == SAVED
    assert config["log.retention.ms"] == 1000


@pytest.mark.parametrize("wrong", [True, False], ids=["a part fails", "it is given up"])
def test_what_was_altered_meanwhile_stays_where_it_is_not_put_back(wrong: bool, monkeypatch: pytest.MonkeyPatch):
    desk, saved = saved_with(SAVED)
    config = desk.state.config
    steps = parts_of(desk, saved)
    next(steps)
    config.set_dynamic(ALTERED, per_broker=False)
    if wrong:
        monkeypatch.setattr("kafkastub.state.snapshots.putting_back.copies", _refuse)
        with pytest.raises(SnapshotError):
            list(steps)
    else:
        steps.close()
    assert config.dynamic_default == ALTERED
    assert config["log.retention.ms"] == 3000


def _refuse(_: object) -> None:
    raise ConfigError("a partition that cannot be")
