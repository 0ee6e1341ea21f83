"""A snapshot of a cluster by its addresses and credentials: what the command and Python share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kafkastub.client import Client
from kafkastub.cluster_snapshots.records import ALL, REDACTED
from kafkastub.cluster_snapshots.taking import Taken, Wanted, take
from kafkastub.config import ConfigError
from kafkastub.proxy.cluster import connector
from kafkastub.proxy.proxy import reach as reached
from kafkastub.proxy.upstream import Upstream

_CLIENT_ID: Final = "kafkastub-snapshot"
_WORDS: Final = {"all": ALL, "none": 0}


def of_cluster(
    bootstrap_servers: str | Sequence[str],
    path: str | os.PathLike[str],
    *,
    records: Mapping[str, int | str] | None = None,
    redact: str | None = None,
    command_config: str | os.PathLike[str] | Mapping[str, str] | None = None,
    reach: Mapping[str, str] | None = None,
    timeout: float = 30,
    progress: Callable[[str], None] = lambda what: None,
) -> Taken:
    """Write a snapshot of a cluster to a file. It blocks.

    Args:
        bootstrap_servers: HOST:PORT, several of them separated by commas or as a sequence.
        records: "all", "none" or how many of the newest records of each partition, by topic; "*" for all others.
        redact: "values", or "all": keys as well.
        command_config: properties of a Kafka client, or their file: TLS and SASL.
        reach: HOST:PORT at which a node is reached, by the HOST:PORT that it advertises.
        timeout: seconds that any one question may take.
        progress: is told what is read now.

    Raises ClientError where nothing can be read; SnapshotError where there is too much; ConfigError, ValueError for
    what makes no sense; OSError of the file.
    """
    wanted = {topic: number_of(topic, given) for topic, given in (records or {}).items()}
    if redact is not None and redact not in REDACTED:
        raise ValueError(f"redact={redact!r} is refused: allowed are {' and '.join(REDACTED)}")
    upstream = Upstream.of(command_config, reached(reach))
    if upstream.has_sasl and upstream.credentials is None:
        raise ConfigError(
            f"security.protocol={upstream.protocol} without a login is refused: sasl.jaas.config, or sasl.username and "
            "sasl.password, are required"
        )
    client_id = upstream.properties.get("client.id", _CLIENT_ID)
    with Client(bootstrap_servers, timeout, client_id, connector(upstream, client_id)) as client:
        return take(client, path, Wanted(wanted, redact), progress)


def number_of(topic: str, given: int | str) -> int:
    """How many records of each partition; ALL for all. Raises ValueError."""
    if isinstance(given, str) and given in _WORDS:
        return _WORDS[given]
    text = str(given)
    if not topic or isinstance(given, bool) or not (text.isascii() and text.isdigit()) or int(text) >= 1 << 63:
        raise ValueError(
            f"records {topic}={given} is refused: expected TOPIC=all, TOPIC=none or TOPIC=N, N the newest records of "
            "each partition"
        )
    return int(text)
