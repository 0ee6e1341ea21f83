"""`stub.chaos`: trouble that every correct client survives, by a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.faults import Chaos

if TYPE_CHECKING:
    from kafkastub.faults import Act
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


class StubChaos:
    """What a seed does to the requests of a stub (docs/chaos.md)."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._now: Chaos | None = None
        """Of the last broker; it is told of when the stub is closed."""
        self._runs = False

    @property
    def running(self) -> bool:
        """Whether requests meet it: not before `start`, and not after `stop`."""
        return self._runs

    @property
    def seed(self) -> int | None:
        """None where there never was any; that of the last one after `stop`."""
        return None if self._now is None else self._now.seed

    @property
    def level(self) -> int | None:
        """1, 2 or 3; None where there never was any."""
        return None if self._now is None else self._now.level

    @property
    def acts(self) -> list[Act]:
        """What was done since it began, oldest first, the last thousand: `number` and `what`."""
        return [] if self._now is None else self._now.acts

    def start(self, seed: int, level: int = 1) -> None:
        """From now on requests meet what the seed decides; another one is over. Raises FaultError."""
        chaos = Chaos(seed, level)
        broker = self._runner.running()
        self._runner.call(lambda: self.begin(broker, chaos))

    def stop(self) -> None:
        """From now on requests meet nothing of it. What was done is still told; nodes that were stopped come back."""
        broker = self._runner.running()
        self._runner.call(lambda: broker.set_chaos(None))
        self._runs = False

    def begin(self, broker: Broker, chaos: Chaos) -> None:
        """In the broker's thread, when it has started."""
        self._now = chaos
        broker.set_chaos(chaos)
        self._runs = True

    def told(self, count: int = 20) -> str:
        """Its seed, and the last things that it did, for people; "" where there was none."""
        if self._now is None:
            return ""
        seed = f"{self._now.seed}:{self._now.level}" if self._now.level != 1 else str(self._now.seed)
        lines = [f"seed {self._now.seed}, level {self._now.level}: --kafka-stub-chaos-seed {seed} plays it again"]
        return "\n".join(lines + [str(act) for act in self._now.acts[-count:]])

    def __repr__(self) -> str:
        if self._now is None:
            return "<no chaos>"
        return f"<chaos of seed {self.seed}, level {self.level}{'' if self._runs else ', stopped'}>"
