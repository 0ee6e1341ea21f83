"""`stub.chaos`: random faults that every correct client survives, from a seed or from a list of acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkastub.faults import Chaos, PlayedChaos, scenario_acts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafkastub.faults import Act, ChaosAct
    from kafkastub.server.broker import Broker
    from kafkastub.stub.runner import Runner


class StubChaos:
    """The chaos of a stub, from a seed or from a list of acts (docs/chaos.md)."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._now: Chaos | PlayedChaos | None = None
        """The chaos of the last broker, for reports after the stub was closed."""
        self._runs = False

    @property
    def running(self) -> bool:
        """Whether chaos acts on requests: from `start` or `play` to `stop`."""
        return self._runs

    @property
    def seed(self) -> int | None:
        """The seed, also after `stop`. None without chaos, and with a list of acts."""
        return None if self._now is None else self._now.seed

    @property
    def level(self) -> int | None:
        """The level: 1, 2 or 3. None without chaos, and with a list of acts."""
        return None if self._now is None else self._now.level

    @property
    def acts(self) -> list[Act]:
        """The last thousand acts since the start, oldest first. Each has `number`, `what`, and `again` to repeat it."""
        return [] if self._now is None else self._now.acts

    @property
    def forgotten(self) -> int:
        """The number of older acts that `acts` no longer contains."""
        return 0 if self._now is None else self._now.forgotten

    @property
    def played(self) -> tuple[ChaosAct, ...] | None:
        """The list of acts that is played, or was played last. None with a seed."""
        return self._now.given if isinstance(self._now, PlayedChaos) else None

    @property
    def left(self) -> int:
        """The number of acts of the list that are still to come. 0 with a seed."""
        return self._now.left if isinstance(self._now, PlayedChaos) else 0

    def start(self, seed: int, level: int = 1) -> None:
        """Start the chaos of a seed, in place of any other chaos. Raises FaultError."""
        self._go(Chaos(seed, level))

    def play(self, acts: Iterable[ChaosAct]) -> None:
        """Play a list of acts, each act once, in place of any other chaos. Raises FaultError."""
        self._go(PlayedChaos(acts))

    def scenario(self, name: str, nth: int = 1, transactional_id: str | None = None) -> None:
        """Play a named scenario: acts that Kafka's protocol allows and that correct clients do not survive.

        Args:
            name: one of `kafkastub.faults.SCENARIOS` (docs/chaos.md).
            nth: which request of the scenario's kind is held back, from 1.
            transactional_id: count only requests that name this transactional id.

        Any other chaos ends. Raises FaultError for an unknown name.
        """
        self.play(scenario_acts(name, nth, transactional_id))

    def _go(self, chaos: Chaos | PlayedChaos) -> None:
        broker = self._runner.running()
        self._runner.call(lambda: self.begin(broker, chaos))

    def stop(self) -> None:
        """Stop chaos. `acts` stays readable, and nodes that chaos stopped start again."""
        broker = self._runner.running()
        self._runner.call(lambda: broker.set_chaos(None))
        self._runs = False

    def begin(self, broker: Broker, chaos: Chaos | PlayedChaos) -> None:
        """Start with the broker, in its thread."""
        self._now = chaos
        broker.set_chaos(chaos)
        self._runs = True

    def told(self, count: int = 20) -> str:
        """Return the seed and the last acts as text for people, "" without chaos."""
        now = self._now
        if now is None:
            return ""
        if isinstance(now, PlayedChaos):
            head = f"a list of {len(now.given)} acts, {now.left} still to come"
        else:
            seed = f"{now.seed}:{now.level}" if now.level != 1 else str(now.seed)
            head = f"seed {now.seed}, level {now.level}: --kafka-stub-chaos-seed {seed} plays it again"
        return "\n".join([head, *(str(act) for act in (now.acts[-count:] if count else []))])

    def __repr__(self) -> str:
        if self._now is None:
            return "<no chaos>"
        what = f"seed {self.seed}, level {self.level}" if self.played is None else f"{len(self.played)} acts"
        return f"<chaos of {what}{'' if self._runs else ', stopped'}>"
