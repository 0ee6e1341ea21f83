"""`kafkastub container`: serve as the environment says, the image's entry point; and `kafkastub container health`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from kafkastub.cli import output
from kafkastub.cli.common import refuse

if TYPE_CHECKING:
    import socket

    from kafkastub.cli.common import Commands

OPTIONS: Final = {
    "KAFKASTUB_AS_VERSION": "--as-version",
    "KAFKASTUB_CHAOS": "--chaos",
    "KAFKASTUB_CONTROL_ALLOWED_HOSTS": "--control-allowed-hosts",
    "KAFKASTUB_CONTROL_HOST": "--control-host",
    "KAFKASTUB_CONTROL_PORT": "--control-port",
    "KAFKASTUB_CONTROL_TOKEN": "--control-token",
    "KAFKASTUB_DATA_DIR": "--data-dir",
    "KAFKASTUB_FAULTS": "--faults",
    "KAFKASTUB_LOG_FORMAT": "--log-format",
    "KAFKASTUB_LOG_LEVEL": "--log-level",
    "KAFKASTUB_NODES": "--nodes",
    "KAFKASTUB_PROFILE": "--profile",
    "KAFKASTUB_REGISTRY_HOST": "--registry-host",
    "KAFKASTUB_REGISTRY_PORT": "--registry-port",
}
"""Environment variables and the options of `kafkastub serve` that they are."""


HEALTH_SECONDS: Final = 3


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    container = commands.add_parser(
        "container",
        help="run a broker configured by KAFKA_* environment variables, as the apache/kafka image is",
        description=(
            "Run a broker configured by environment variables. KAFKA_* is Kafka's configuration, mapped as in the "
            "apache/kafka image. KAFKA_CREATE_TOPICS lists topics to create. "
            f"{', '.join(OPTIONS)} are options of `kafkastub serve`."
            " `kafkastub container health` checks whether the broker answers and has those topics."
        ),
        prefix_chars="\0",  # what looks like an option is one of serve's
        add_help=False,
    )
    container.set_defaults(run=_run)
    container.add_argument(
        "options", nargs=argparse.REMAINDER, help="options of `kafkastub serve`, which override the environment"
    )


def _run(arguments: argparse.Namespace) -> int:
    from kafkastub.cli import main

    try:
        if arguments.options == ["health"]:
            return _health(os.environ)
        given = serve_options(os.environ)
    except ValueError as error:
        return refuse(str(error))
    return main(["serve", *given, *arguments.options])


def _health(environment: Mapping[str, str]) -> int:
    """0 where the broker of this container answers and has the topics that were asked for; says why where not."""
    from kafkastub.config.environment import topics_of

    wanted = {text.partition(":")[0] for text in topics_of(environment)}
    why = _unhealthy(environment, wanted)
    if why is not None:
        output.note(why)
        return 1
    return 0


def _unhealthy(environment: Mapping[str, str], wanted: set[str]) -> str | None:
    """Why it is not healthy. Topics can be seen by who need not sign in; else it is enough that somebody answers.

    They are there then, too: a broker makes its topics before it listens.
    """
    listeners = _listeners(environment)
    plain = next((one for one in listeners if one.protocol == "PLAINTEXT"), None)
    if plain is None:
        return _silent(listeners[0])
    if environment.get("KAFKA_AUTHORIZER_CLASS_NAME"):
        return _silent(plain)
    from kafkastub.client import Client, ClientError, topics

    try:
        host = f"[{plain.host}]" if ":" in plain.host else plain.host
        with Client(f"{host}:{plain.port}", timeout=HEALTH_SECONDS) as client:
            missing = sorted(wanted - set(topics.names(client)))
    except ClientError as error:
        return str(error)
    return f"topics that are not there yet: {', '.join(missing)}" if missing else None


class _Listener(NamedTuple):
    """One that clients use, and how they reach it from within the container."""

    protocol: str
    host: str
    port: int


def _listeners(environment: Mapping[str, str]) -> list[_Listener]:
    """Those of KAFKA_LISTENERS, or the one that there is without it."""
    pairs = (pair.rpartition(":") for pair in environment.get("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "").split(","))
    protocols = {name.strip().upper(): protocol.strip().upper() for name, _, protocol in pairs}
    controllers = environment.get("KAFKA_CONTROLLER_LISTENER_NAMES", "CONTROLLER").upper().split(",")
    found = []
    for listener in environment.get("KAFKA_LISTENERS", "").split(","):
        name, _, address = listener.strip().partition("://")
        host, _, port = address.rpartition(":")
        if port.isdecimal() and name.upper() not in controllers:
            host = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))
            found.append(_Listener(protocols.get(name.upper(), name.upper()), host, int(port)))
    return found or [_Listener("PLAINTEXT", "127.0.0.1", 9092)]


def _silent(listener: _Listener) -> str | None:
    """Why nobody answers there. Who has not signed in may ask for ApiVersions; of TLS the handshake will do."""
    import socket

    try:
        with socket.create_connection((listener.host, listener.port), HEALTH_SECONDS) as sock:
            if listener.protocol in ("SSL", "SASL_SSL"):
                return _no_handshake(sock)
            from kafkawire.framing import frame
            from kafkawire.header import request_header

            sock.sendall(frame(request_header(18, 0, 1, "health", False)))
            return None if sock.recv(1) else f"the broker on port {listener.port} ends connections"
    except OSError as error:
        return f"no broker answers on {listener.host}:{listener.port}: {error}"


def _no_handshake(sock: socket.socket) -> str | None:
    """Whose certificate it is does not matter here: it is our own container."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with context.wrap_socket(sock):
            return None
    except ssl.SSLError as error:
        # Who is asked for a certificate, and has none, is told so by somebody who is there.
        return None if "ALERT" in (error.reason or "") else f"the handshake of TLS failed: {error.reason}"


def serve_options(environment: Mapping[str, str]) -> list[str]:
    """The command line of `kafkastub serve` for an environment. Raises ValueError with one sentence."""
    from kafkastub.config.environment import configs_of, topics_of

    said = {option: environment[name] for name, option in OPTIONS.items() if environment.get(name)}
    options = [part for pair in said.items() for part in pair]
    configs = configs_of(environment)
    if configs:
        options += ["--config", *(f"{name}={value}" for name, value in configs.items())]
    topics = topics_of(environment)
    return options + (["--topic", *topics] if topics else [])
