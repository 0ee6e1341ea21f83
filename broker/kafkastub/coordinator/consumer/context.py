"""What everything that happens to a consumer group needs of its surroundings."""

from __future__ import annotations

from kafkastub.coordinator.consumer.group import ConsumerGroup
from kafkastub.coordinator.consumer.settings import ConsumerSettings
from kafkastub.coordinator.groups import Groups
from kafkastub.coordinator.modern import assignors
from kafkastub.coordinator.modern.assignment import Assignor
from kafkastub.coordinator.modern.context import ModernContext


class ConsumerContext(ModernContext[ConsumerGroup, ConsumerSettings]):
    """The surroundings of all consumer groups."""

    __slots__ = ("_assignors",)

    def __init__(self, groups: Groups, settings: ConsumerSettings) -> None:
        super().__init__(groups, settings, ConsumerGroup)
        self._assignors: dict[str, Assignor] | None = None

    @property
    def assignors(self) -> dict[str, Assignor]:
        """Those that are configured, the default first."""
        if self._assignors is None:
            found = [assignors.named(name) for name in self.settings.assignors]
            self._assignors = {one.name: one for one in found if one is not None}
        return self._assignors

    @property
    def default_assignor(self) -> str:
        """Its name."""
        return next(iter(self.assignors))

    def reconfigured(self, now: ConsumerSettings) -> None:
        """What can be changed while the broker runs has changed."""
        self.settings.assignor_offload = now.assignor_offload
        super().reconfigured(now)
