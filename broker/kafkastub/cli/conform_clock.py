"""The clock of a stub for the conformance suite, over its control port."""

from __future__ import annotations

from typing import Any

from kafkastub.cli.control import Control, ControlError
from kafkastub_conformance.cluster import NotReady


class ControlledClock:
    """Broker time behind a control port. Each method raises NotReady where that does not do as it is told."""

    def __init__(self, control: Control) -> None:
        self._control = control

    @property
    def frozen(self) -> bool:
        """Whether it stands still."""
        return bool(self._ask("GET", "/v1/clock")["frozen"])

    def freeze(self) -> None:
        """Let it stand still."""
        self._ask("POST", "/v1/clock/freeze")

    def unfreeze(self) -> None:
        """Let it go on from where it stands."""
        self._ask("POST", "/v1/clock/unfreeze")

    def advance(self, *, milliseconds: int) -> None:
        """Move it forward; what falls due has happened when it returns."""
        self._ask("POST", "/v1/clock/advance", {"milliseconds": milliseconds})

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            return self._control.ask(method, path, body)
        except ControlError as error:
            raise NotReady(str(error)) from None
