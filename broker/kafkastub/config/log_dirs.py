"""The log directories that a configuration names, and which of them are cordoned (KIP-113, KIP-1066)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, Protocol

CORDONED: Final = "cordoned.log.dirs"
ANY: Final = "*"
"""In cordoned.log.dirs: every directory."""


class Values(Protocol):
    def __getitem__(self, name: str, /) -> Any: ...


def named(values: Values) -> Sequence[str]:
    """As they are written (Kafka: AbstractKafkaConfig.logDirs)."""
    dirs: Sequence[str] = values["log.dirs"] or values["log.dir"]
    return dirs


def wrongly_cordoned(values: Values) -> str | None:
    """What Kafka has against cordoned.log.dirs (KafkaConfig.validateCordonedLogDirs)."""
    cordoned: Sequence[str] = values[CORDONED]
    if ANY in cordoned:
        problem = f"When {CORDONED} is set to {ANY}, it must not contain other values"
        return problem if len(cordoned) > 1 else None
    missing = [one for one in cordoned if one not in named(values)]
    if not missing:
        return None
    return f"All entries in {CORDONED} must be present in log.dirs or log.dir. Missing entries : {', '.join(missing)}"


def absolute(path: str) -> str:
    """Java's ``Path.toAbsolutePath``: nothing is resolved, slashes that mean nothing are gone."""
    whole = path if path.startswith("/") else f"{os.getcwd()}/{path}"  # noqa: PTH109 (no Path: text is all it is)
    return "/" + "/".join(filter(None, whole.split("/")))
