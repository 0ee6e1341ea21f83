"""`stub.quotas`: client quotas, set without a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kafkawire.errors import KafkaError

if TYPE_CHECKING:
    from kafkastub.stub.runner import Runner

_TYPES: Final = {"user": "user", "client_id": "client-id", "ip": "ip"}
_SAYS: Final = "a name, or '' for the default of all others"


class StubQuotas:
    """The client quotas of a stub (docs/quotas.md)."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def set(
        self,
        *,
        user: str | None = None,
        client_id: str | None = None,
        ip: str | None = None,
        **quotas: float | None,
    ) -> None:
        """Set client quotas. Clients above a quota get throttle_time_ms, and wait.

            stub.quotas.set(client_id="loader", producer_byte_rate=1_000_000)

        Args:
            user: the user that the quota is for; "" is the default for users without a separate quota.
            client_id: the client id that the quota is for, with `user` the combination of both; "" is the default.
            ip: the IP address that the quota is for; "" is the default.
            quotas: producer_byte_rate and consumer_byte_rate (bytes per second), request_percentage,
                controller_mutation_rate (partitions per second), for an address connection_creation_rate (connections
                per second). None removes a quota. Quotas that are not named are left unchanged.

        Raises ValueError for what Kafka would refuse, TypeError.
        """
        given = {"user": user, "client_id": client_id, "ip": ip}
        for name, value in given.items():
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{name}={value!r} is refused: {_SAYS}")
        if not quotas:
            raise ValueError("no quota is named, for example producer_byte_rate=1_000_000")
        changes: list[tuple[str, float | None]] = []
        for name, amount in quotas.items():
            if amount is not None and (isinstance(amount, bool) or not isinstance(amount, int | float)):
                raise TypeError(f"{name}={amount!r} is refused: a number, or None to remove the quota")
            if amount is not None and amount != amount:
                raise ValueError(f"{name}=nan is refused: a number above 0, or None to remove the quota")
            try:
                changes.append((name, None if amount is None else float(amount)))
            except OverflowError:
                raise ValueError(f"{name} is refused: the number is too large") from None
        parts = [(_TYPES[name], value or None) for name, value in given.items() if value is not None]
        state = self._runner.running().state

        def alter() -> Any:
            from kafkastub.security.quotas import entity, no_such_quota

            who = entity(parts)
            unknown = no_such_quota(who, quotas)
            if unknown is not None:
                raise ValueError(unknown)
            try:
                ((_, refusal),) = state.alter_quotas([(who, changes)])
            except KafkaError as error:
                raise ValueError(error.message or error.code.name) from None
            return refusal

        refusal = self._runner.call(alter)
        if refusal is not None:
            raise ValueError(refusal[1])
