"""How many connections a node takes, from whom and how fast. No I/O. Kafka: ``ConnectionQuotas``.

| limit | a connection above it |
|---|---|
| `max.connections.per.ip`, `….overrides` | is closed at once |
| `max.connections`, of the node or of a listener | waits until another one has ended |
| the same, and it came in on the listener between brokers | the node closes the idlest one of another listener |
| `max.connection.creation.rate`, of the node or of a listener | waits for its turn, a quota window at most |
| `connection_creation_rate` of an address (KIP-612) | is closed after a while |
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from kafkastub.config import BrokerConfig
from kafkastub.config.connection_limits import (
    CREATION_RATE,
    MAX_CONNECTIONS,
    OVERRIDES,
    PER_IP,
    of_listener,
    per_ip_overrides,
)

if TYPE_CHECKING:
    from kafkastub.security.quota_rates import Rate
    from kafkastub.state.broker_state import BrokerState

_UNLIMITED: Final = (1 << 31) - 1
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""How the IPv6 form of an IPv4 address begins."""
_MOST_RATES: Final = 10_000
"""Addresses whose rate is remembered, of those that have a quota."""


_NUMERIC: Final = socket.AI_NUMERICHOST

Resolve = Callable[[Sequence[str], Callable[[Mapping[str, "str | OSError"]], None]], None]
"""(names, whom to tell): the first address of each, or why there is none; at some time, in the same thread."""


class TooMany(Exception):
    """The address has all the connections that it may have."""


class TooFast(Exception):
    """The address makes connections faster than its quota allows: this one is to be closed after so many ms."""

    def __init__(self, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.delay_ms = delay_ms


class Slot:
    """One connection's place among those of its node."""

    __slots__ = ("_limits", "ip", "listener")

    def __init__(self, limits: ConnectionLimits, listener: str, ip: str) -> None:
        self._limits: ConnectionLimits | None = limits
        self.listener = listener
        self.ip = ip

    def free(self) -> None:
        """The connection has ended. More than once is no harm."""
        limits, self._limits = self._limits, None
        if limits is not None:
            limits.freed(self)


class ConnectionLimits:
    """Of one node."""

    def __init__(self, state: BrokerState, resolve: Resolve) -> None:
        """`resolve` looks names up: see `HostResolver`."""
        self._state = state
        self._resolve = resolve
        self._listeners: list[str] = []
        self._by_listener: Counter[str] = Counter()
        self._by_ip: Counter[str] = Counter()
        self._total = 0
        self._waiting: dict[Callable[[], None], None] = {}
        """Whom to call, each once, first come first."""
        # as configured
        self._most = self._per_ip = _UNLIMITED
        self._overrides: dict[str, int] = {}
        self._overrides_text = ""
        self._of_listener: dict[str, int] = {}
        self._bounds: dict[str | None, int] = {}
        """Of connections a second: the node's (None) and its listeners', where there are any."""
        self._rates: dict[tuple[str, str | None], Rate] = {}
        self.read(state)

    def read(self, state: BrokerState) -> None:
        """Go by the configuration as it is now, and let in who may come in by it."""
        if state is not self._state:  # after a reset, which has another clock
            self._rates.clear()
        self._state, config = state, state.config
        self._most, self._per_ip = config[MAX_CONNECTIONS], config[PER_IP]
        overrides = config[OVERRIDES] or ""
        if overrides != self._overrides_text:
            self._overrides_text = overrides
            self._override(per_ip_overrides(overrides))
        bounds: dict[str | None, int] = {None: config[CREATION_RATE]}
        for name in self._listeners:
            self._of_listener[name] = of_listener(config, name, MAX_CONNECTIONS)
            bounds[name] = of_listener(config, name, CREATION_RATE)
        self._bounds = {name: bound for name, bound in bounds.items() if bound < _UNLIMITED}
        self._call_waiting()

    def _override(self, overrides: Mapping[str, int]) -> None:
        """Addresses have their numbers from now on, names as soon as it is known what their addresses are."""
        found = {host: _literal(host) for host in overrides}
        names = [host for host, address in found.items() if address is None]
        self._overrides = _by_address(overrides, found)
        text = self._overrides_text

        def resolved(addresses: Mapping[str, str | OSError]) -> None:
            if text != self._overrides_text:
                return
            for host, address in addresses.items():
                if isinstance(address, str):
                    found[host] = address
                else:
                    self._state.log.warning(f"an entry of {OVERRIDES} is left out", host=host, why=address.strerror)
            self._overrides = _by_address(overrides, found)

        if names:
            self._resolve(names, resolved)

    def add_listener(self, name: str) -> None:
        """One more listener of this node."""
        if name not in self._listeners:
            self._listeners.append(name)
            self.read(self._state)

    def is_protected(self, listener: str) -> bool:
        """Whether the node's `max.connections` does not hold there: it is the one between brokers, beside others."""
        return len(self._listeners) > 1 and listener == _between_brokers(self._state.config)

    def has_room(self, listener: str) -> bool:
        """Whether another connection may come in there now."""
        if self._by_listener[listener] >= self._of_listener.get(listener, _UNLIMITED):
            return False
        return self._total < self._most or self.is_protected(listener)

    def wait_ms(self, listener: str, timer_ms: int) -> int:
        """A connection has come: how long it has to wait for the sake of the creation rates."""
        if not self._bounds:
            return 0
        names = (listener,) if self.is_protected(listener) else (None, listener)
        waits = (self._record("", name, self._bounds[name], timer_ms) for name in names if name in self._bounds)
        return max(waits, default=0)

    def take(self, listener: str, ip: str, timer_ms: int) -> Slot:
        """A place for a connection that may come in. Raises TooMany, TooFast."""
        if self._state.has_quotas:
            rate = self._state.quotas.connection_rate(ip)
            if rate is not None and (delay := self._record(ip, None, int(rate), timer_ms)):
                self._rates[ip, None].record(-1, timer_ms)
                self._unrecord(listener, timer_ms)
                raise TooFast(delay)
        most = self._overrides.get(ip, self._per_ip)
        if self._by_ip[ip] >= most:
            if not self._by_ip[ip]:
                del self._by_ip[ip]
            raise TooMany(
                f"{ip} has all the {most} connections that {OVERRIDES if ip in self._overrides else PER_IP} allows it"
            )
        self._by_ip[ip] += 1
        self._by_listener[listener] += 1
        self._total += 1
        return Slot(self, listener, ip)

    def freed(self, slot: Slot) -> None:
        """By `Slot.free`."""
        self._total -= 1
        self._by_listener[slot.listener] -= 1
        self._by_ip[slot.ip] -= 1
        if not self._by_ip[slot.ip]:
            del self._by_ip[slot.ip]
        self._call_waiting()

    @property
    def excess(self) -> int:
        """How many connections there are above `max.connections`."""
        return max(0, self._total - self._most)

    def when_freed(self, call: Callable[[], None]) -> None:
        """Have `call` called once, when there may be room, however often this is asked meanwhile."""
        self._waiting[call] = None

    def _call_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for call in waiting:
            call()

    def _record(self, ip: str, listener: str | None, bound: int, timer_ms: int) -> int:
        from kafkastub.security.quota_rates import Rate, Windows

        config = self._state.config
        size_ms: int = config["quota.window.size.seconds"] * 1000
        rate = self._rates.get((ip, listener))
        if rate is None:
            if len(self._rates) >= _MOST_RATES:
                del self._rates[next(iter(self._rates))]
            rate = self._rates[ip, listener] = Rate(Windows(config["quota.window.num"], size_ms))
        rate.record(1, timer_ms)
        return min(rate.over(bound, timer_ms), size_ms)

    def _unrecord(self, listener: str, timer_ms: int) -> None:
        for name in (None, listener):
            if ("", name) in self._rates:
                self._rates["", name].record(-1, timer_ms)


def plain_ip(host: str) -> str:
    """An address as Kafka counts, compares and prints it (Java: ``InetAddress.getHostAddress``).

    An IPv4 one is the same however it came in; all eight groups of an IPv6 one are written out. What is no address
    stays as it is.
    """
    if ":" not in host:
        return host
    try:
        packed = socket.inet_pton(socket.AF_INET6, host.partition("%")[0])
    except OSError:
        return host
    if packed.startswith(_MAPPED):
        return socket.inet_ntoa(packed[len(_MAPPED) :])
    return ":".join(f"{packed[at] << 8 | packed[at + 1]:x}" for at in range(0, 16, 2))


def client_host(peer: Sequence[Any]) -> str:
    """The same of where a connection comes from, a socket's address; that of a link has its number behind it."""
    ip, scope = plain_ip(peer[0]), peer[3] if len(peer) > 3 else 0
    return f"{ip}%{scope}" if scope and ":" in ip else ip


def _between_brokers(config: BrokerConfig) -> str:
    name = config["inter.broker.listener.name"] or config["security.inter.broker.protocol"]
    return str(name).strip().upper()


def _literal(host: str) -> str | None:
    """What is an address already, None for a name."""
    try:
        return str(socket.getaddrinfo(host.encode(), None, type=socket.SOCK_STREAM, flags=_NUMERIC)[0][4][0])
    except OSError:
        return None


def _by_address(overrides: Mapping[str, int], found: Mapping[str, str | None]) -> dict[str, int]:
    return {plain_ip(address): number for host, number in overrides.items() if (address := found[host]) is not None}


__all__ = ["ConnectionLimits", "Slot", "TooFast", "TooMany", "client_host", "plain_ip"]
