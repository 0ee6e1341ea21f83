"""The first contact with a cluster: an answer, or the one sentence that says why there is none, soon."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any, Final

from kafkastub_pipeline.clients import check_servers, for_librdkafka
from kafkastub_pipeline.errors import PipelineError, Unreachable
from kafkastub_pipeline.topics import GROUP

SURE_AFTER: Final = 3.0
"""Seconds after which a connection that is refused by all, or a name that nobody knows, stays so."""
_FIRST_WAIT: Final = 0.5


def client_config(bootstrap_servers: str, options: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """For confluent-kafka; it logs nothing by itself. Raises PipelineError.

    Without a `client.id` of the user's its requests bear the pipeline's name: a journal tells them from others.
    """
    check_servers(bootstrap_servers)
    ours = {"client.id": GROUP, "log_level": 0, "error_cb": lambda _: None}
    return {"bootstrap.servers": bootstrap_servers, **ours, **for_librdkafka(options)}


def reader_config(
    bootstrap_servers: str, options: Sequence[tuple[str, str]], isolation_level: str, **more: Any
) -> dict[str, Any]:
    """Of a consumer that is assigned what it reads, from the beginning, and told of each end; it commits nothing.

    Args:
        isolation_level: `read_committed` or `read_uncommitted`.
        more: properties with underscores for dots.
    """
    ours: dict[str, Any] = {
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation_level,
        "auto.offset.reset": "earliest",
    }
    config = {"group.id": GROUP} | client_config(bootstrap_servers, options)
    return config | ours | {name.replace("_", "."): value for name, value in more.items()}


def connected(bootstrap_servers: str, options: Sequence[tuple[str, str]], timeout: float) -> tuple[Any, Any]:
    """An admin client and the cluster's metadata. Raises PipelineError.

    librdkafka tries again whatever happens: what it meets meanwhile is heard, and ends the wait where it is certain.
    """
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import AdminClient

    met: dict[int, str] = {}
    config = client_config(bootstrap_servers, options)
    config["error_cb"] = lambda error: met.__setitem__(error.code(), error.str())
    try:
        admin = AdminClient(config)
    except KafkaException as error:
        raise PipelineError(f"the client cannot be made: {error.args[0].str()}; check --client-config") from error
    begun, wait = time.monotonic(), _FIRST_WAIT
    while True:
        try:
            metadata = admin.list_topics(timeout=wait)
        except KafkaException as error:
            why = error
        else:
            admin.poll(0)
            return admin, metadata
        admin.poll(0)
        spent = time.monotonic() - begun
        if KafkaError._AUTHENTICATION in met:
            raise PipelineError(_refused(bootstrap_servers, _plain(met[KafkaError._AUTHENTICATION]))) from why
        down = KafkaError._ALL_BROKERS_DOWN in met and spent >= SURE_AFTER
        if not down and spent < timeout:
            wait = min(2 * wait, timeout - spent)  # a large cluster may need long for its answer
            continue
        if KafkaError._SSL in met:
            raise PipelineError(_no_tls(bootstrap_servers, _plain(met[KafkaError._SSL]))) from why
        reason = next((met[code] for code in (KafkaError._RESOLVE, KafkaError._TRANSPORT) if code in met), None)
        if reason is not None:
            said = _plain(reason)
        else:
            said = "every connection is closed at once" if down else f"no answer in {spent:.0f} s"
        raise Unreachable(
            f"no broker answers at {bootstrap_servers}: {said}; check --bootstrap-servers and security.protocol"
        ) from why


def _refused(bootstrap_servers: str, said: str) -> str:
    if "current SASL state" in said:  # it takes a handshake for a request out of place
        return f"{bootstrap_servers} asks for no user: its security.protocol is PLAINTEXT or SSL, or it is another port"
    said = said.removeprefix("SASL authentication error: ")
    return f"{bootstrap_servers} refuses the user: {said}; check sasl.mechanism, the user's name and the password"


def _no_tls(bootstrap_servers: str, said: str) -> str:
    if "certificate verify failed" in said:  # OpenSSL knows why, librdkafka keeps it to itself
        return (
            f"the certificate of {bootstrap_servers} is not trusted: give ssl.truststore.location (or ssl.ca.location)"
            " the authority that signed it, and connect to a host that it names"
        )
    return f"{bootstrap_servers} and this client find no common TLS: {said}"


def _plain(text: str) -> str:
    """Without the address in front, and the state of the connection behind."""
    text = re.sub(r"^\S+/(?:bootstrap|\d+): ", "", text)
    return re.sub(r" \(after \d+ms in state \w+(?:, \d+ identical error\(s\) suppressed)?\)$", "", text).rstrip(".")
