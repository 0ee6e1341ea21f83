"""Where a broker listens, and what clients are told: `listeners`, `advertised.listeners` and what belongs to them.

Parsed and refused as Kafka does it (``SocketServerConfigs.listenerListToEndPoints``, ``KafkaConfig.validateValues``).
Two things are easier here. The stub has no controller of its own, so that neither a controller's listener nor its
entry in listener.security.protocol.map is required; a listener named in controller.listener.names is read and not
served. And a port that no socket can have is refused before it is bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, NoReturn

from .broker import BrokerConfig
from .definition import whole
from .errors import ConfigError

PLAINTEXT: Final = "PLAINTEXT"
TLS_PROTOCOLS: Final = ("SSL", "SASL_SSL")
_PROTOCOLS: Final = (PLAINTEXT, "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_ENDPOINT: Final = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)]?:(-?[0-9]+)")
_NOWHERE: Final = "0.0.0.0"
LISTENERS: Final = "listeners"
ADVERTISED: Final = "advertised.listeners"
PROTOCOL_MAP: Final = "listener.security.protocol.map"
USERS: Final = "kafkastub.users"
_INTER_BROKER: Final = "inter.broker.listener.name"
Refuse = Callable[[str], NoReturn]


class Address(NamedTuple):
    """A host ("" is the machine's own name) and a port (0: the one that is bound)."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Listener:
    """One address that is listened on. ``host`` "" is every address of the machine, port 0 any free one."""

    name: str
    host: str
    port: int
    protocol: str = PLAINTEXT


@dataclass(frozen=True, slots=True)
class Listeners:
    """All listeners of one node, and what clients of each are told.

    Attributes:
        served: at least one.
        advertised: listener name to address. A listener without one is served, but nobody is sent there.
        plain: whether they come from a host and a port, not from ``listeners``.
    """

    served: tuple[Listener, ...]
    advertised: Mapping[str, Address] = field(default_factory=dict)
    plain: bool = False

    def of_node(self, number: int) -> Listeners:
        """Those of the node that comes so many after the first: each fixed port is as much higher."""
        if not number:
            return self
        return replace(
            self,
            served=tuple(replace(one, port=_shifted(one.port, number, one.name)) for one in self.served),
            advertised={
                name: Address(told.host, _shifted(told.port, number, name)) for name, told in self.advertised.items()
            },
        )


def plain_listener(host: str, port: int, advertised: str | None, config: BrokerConfig) -> Listeners:
    """One PLAINTEXT listener; ``advertised`` as `advertise` takes it. Raises ConfigError.

    Where neither ``advertised`` nor ``listeners`` is given, advertised.listeners counts.
    """
    plain = Listeners((Listener(PLAINTEXT, host, port),), {}, plain=True)
    _check_users(config, plain.served)
    if advertised is not None:
        return advertise(plain, advertised)
    if ADVERTISED not in config.static or LISTENERS in config.static:
        return plain
    told = _parse(ADVERTISED, config[ADVERTISED] or (), _protocols(config))
    _check_names(ADVERTISED, told, plain.served)
    addresses = {name: Address(one.host, one.port) for name, one in told.items()}
    _check_advertised(config, addresses)
    return replace(plain, advertised=addresses)


def configured_listeners(config: BrokerConfig, advertised: str | None = None) -> Listeners | None:
    """What the configuration says, None where it says nothing of ``listeners``.

    ``advertised`` wins over advertised.listeners. Raises ConfigError.
    """
    if LISTENERS not in config.static:
        return None
    protocols = _protocols(config)
    controllers = {name.upper() for name in config["controller.listener.names"] or ()}
    found = _parse(LISTENERS, config[LISTENERS], protocols)
    for name in controllers.intersection(found):
        if "controller" not in config["process.roles"]:
            _refuse(LISTENERS, config, f"{name} is named in controller.listener.names, and this is not a controller")
    served = tuple(listener for name, listener in found.items() if name not in controllers)
    if not served:
        _refuse(LISTENERS, config, "it names a listener for controllers only, and the stub has none")
    told = _advertised(config, served, protocols, controllers)
    listeners = Listeners(served, told if advertised is None else {})
    _check_users(config, served)
    if advertised is not None:
        return advertise(listeners, advertised)
    _check_advertised(config, told)
    return listeners


def plan_listeners(
    config: BrokerConfig, host: str | None = None, port: int | None = None, advertised: str | None = None
) -> Listeners:
    """The configuration's listeners, or the one at ``host`` and ``port``: both at once are refused (ConfigError)."""
    given = configured_listeners(config, advertised)
    if given is not None:
        if host is not None or port is not None:
            word = "host" if host is not None else "port"
            _refuse(LISTENERS, config, f"a {word} was given too, so leave one of them out")
        return given
    return plain_listener("127.0.0.1" if host is None else host, port or 0, advertised, config)


def advertise(listeners: Listeners, text: str) -> Listeners:
    """The same listeners with other addresses told: ``HOST:PORT`` where there is one listener, or Kafka's notation.

    Kafka's is ``NAME://HOST:PORT``, several separated by commas; what is not named stays. Raises ConfigError.
    """
    return replace(listeners, advertised={**listeners.advertised, **parse_advertised(text, listeners.served)})


def parse_advertised(text: str, served: Iterable[Listener]) -> dict[str, Address]:
    """What `advertise` reads: listener name to address. Raises ConfigError."""
    served = tuple(served)
    if "://" not in text:
        if len(served) > 1:
            names = ", ".join(one.name for one in served)
            raise ConfigError(
                f"the advertised address {text!r} is refused: there are the listeners {names}, "
                f"so say which, for example {served[0].name}://{text}"
            )
        return {served[0].name: parse_address(text)}
    entries = [entry.strip() for entry in text.split(",")]
    told = _parse("the advertised address", entries, {one.name: one.protocol for one in served}, known_only=True)
    for one in told.values():
        if one.host == _NOWHERE:
            raise ConfigError(f"the advertised address {text!r} is refused: no client can connect to {_NOWHERE}")
    return {name: Address(one.host, one.port) for name, one in told.items()}


def parse_address(text: str) -> Address:
    """`HOST:PORT` or `[HOST]:PORT`. Raises ConfigError with one sentence."""
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ConfigError(f"{text!r} is not an address: expected HOST:PORT, for example localhost:9092")
    return Address(host.strip("[]"), int(port))


def _protocols(config: BrokerConfig) -> dict[str, str]:
    """Listener name to security protocol (``KafkaConfig.effectiveListenerSecurityProtocolMap``)."""
    text = config[PROTOCOL_MAP]
    result: dict[str, str] = {}
    for entry in filter(None, (entry.strip() for entry in text.split(","))):
        name, colon, protocol = (part.strip() for part in entry.rpartition(":"))
        if not colon:
            _refuse(PROTOCOL_MAP, config, f"expected NAME:PROTOCOL, not {entry}")
        if protocol.upper() not in _PROTOCOLS:
            _refuse(PROTOCOL_MAP, config, f"{protocol} is not a security protocol: there are {', '.join(_PROTOCOLS)}")
        result[name.upper()] = protocol.upper()
    for name in config["controller.listener.names"] or ():
        result.setdefault(name.upper(), PLAINTEXT)
    return result


def _parse(
    key: str, entries: Iterable[str], protocols: Mapping[str, str], *, known_only: bool = False
) -> dict[str, Listener]:
    """Listener name to listener. Raises ConfigError."""
    entries = list(entries)
    found: dict[str, Listener] = {}
    shown = f"{key}={','.join(entries)}" if "." in key or key == LISTENERS else f"{key} {','.join(entries)!r}"

    def refuse(why: str) -> NoReturn:
        raise ConfigError(f"{shown} is refused: {why}")

    for entry in entries:
        match = _ENDPOINT.fullmatch(entry)
        if match is None:
            refuse(f"{entry} is not a listener: expected NAME://HOST:PORT, for example PLAINTEXT://localhost:9092")
        name, host, port = match[1].upper(), match[2], whole(match[3])
        if port is None or not 0 <= port <= 65535:
            refuse(f"{match[3]} is not a port, 0 to 65535 is allowed")
        if name in found:
            refuse(f"each listener must have a different name, and {name} is there twice")
        protocol = protocols.get(name)
        if protocol is None and known_only:
            refuse(f"there is no listener {name}, only {', '.join(protocols)}")
        if protocol is None:
            refuse(f"no security protocol is defined for listener {name}; {PROTOCOL_MAP} is to say {name}:PLAINTEXT")
        found[name] = Listener(name, host, port, protocol)
    if key == LISTENERS:
        _check_ports(list(found.values()), refuse)
    return found


def _check_ports(listeners: list[Listener], refuse: Refuse) -> None:
    """A port is used once, or by one IPv4 and one IPv6 address (``SocketServerConfigs.validate``)."""
    by_port: dict[int, list[Listener]] = {}
    for one in listeners:
        if one.port:
            by_port.setdefault(one.port, []).append(one)
    for port, sharing in by_port.items():
        kinds = sorted(_ip_version(one.host) for one in sharing)
        if len(sharing) > 1 and kinds != [4, 6]:
            refuse(f"each listener must have a different port, and {port} is there {len(sharing)} times")


def _ip_version(host: str) -> int:
    """4 or 6 of an address, 0 of a name."""
    from ipaddress import ip_address

    try:
        return ip_address(host.partition("%")[0]).version
    except ValueError:
        return 0


def _advertised(
    config: BrokerConfig, served: tuple[Listener, ...], protocols: Mapping[str, str], controllers: set[str]
) -> dict[str, Address]:
    """advertised.listeners; without it what is listened on, ports and hosts as they stand there."""
    if config[ADVERTISED] is None:
        return {one.name: Address(one.host, one.port) for one in served}
    told = _parse(ADVERTISED, config[ADVERTISED], protocols)
    told = {name: one for name, one in told.items() if name not in controllers}
    _check_names(ADVERTISED, told, served)
    return {name: Address(one.host, one.port) for name, one in told.items()}


def _check_names(key: str, told: Mapping[str, Listener], served: tuple[Listener, ...]) -> None:
    names = [one.name for one in served]
    for name in told:
        if name not in names and name != "CONTROLLER":
            raise ConfigError(f"{key}={name}://… is refused: {name} is not among the listeners {', '.join(names)}")


def _check_advertised(config: BrokerConfig, told: Mapping[str, Address]) -> None:
    for address in told.values():
        if address.host == _NOWHERE:
            raise ConfigError(
                f"{ADVERTISED}={config.static.get(ADVERTISED) or config.static[LISTENERS]} is refused: no client can "
                f"connect to {_NOWHERE}; advertise an address that they reach, for example PLAINTEXT://localhost:9092"
            )
    static = config.static
    if _INTER_BROKER in static and "security.inter.broker.protocol" in static:
        _refuse(_INTER_BROKER, config, "security.inter.broker.protocol is set too, and only one of them may be")
    between = (static.get(_INTER_BROKER) or config["security.inter.broker.protocol"]).strip().upper()
    if between not in told:
        what = f"{_INTER_BROKER}={between} is refused" if _INTER_BROKER in static else f"{_INTER_BROKER} is needed"
        raise ConfigError(f"{what}: it must be one of the advertised listeners {', '.join(told)}")


def _shifted(port: int, by: int, name: str) -> int:
    if not port:
        return 0
    if port + by > 65535:
        raise ConfigError(f"listener {name} has no port left for another node: {port} + {by} is above 65535")
    return port + by


def _check_users(config: BrokerConfig, served: Iterable[Listener]) -> None:
    """Raises ConfigError where there are users and no listener asks who comes in: somebody believes to be protected."""
    if config[USERS] and not any(one.protocol.startswith("SASL_") for one in served):
        raise ConfigError(
            f"{USERS} is refused: no listener authenticates clients; give one the protocol SASL_PLAINTEXT or SASL_SSL, "
            f"for example {LISTENERS}=SASL_PLAINTEXT://127.0.0.1:9092"
        )


def check_room(nodes: Iterable[Listeners]) -> None:
    """Raises ConfigError where nodes would listen on each other's ports."""
    taken: dict[tuple[str, int], str] = {}
    for number, node in enumerate(nodes, 1):
        for one in node.served:
            if one.port and (where := taken.setdefault((one.host, one.port), f"{one.name} of node {number}")):
                mine = f"{one.name} of node {number}"
                if where != mine:
                    raise ConfigError(
                        f"port {one.port} is wanted by {where} and by {mine}: the nodes take consecutive ports, so "
                        "leave room between the listeners, or give them port 0"
                    )


def _refuse(key: str, config: BrokerConfig, why: str) -> NoReturn:
    raise ConfigError(f"{key}={config.static.get(key, '')} is refused: {why}")
