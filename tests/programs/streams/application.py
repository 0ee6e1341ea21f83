"""Our Kafka Streams applications (Application.java), as processes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.oracle.jars import TOOLS, compiled, java_command
from tests.programs.running import Running
from tests.programs.stage import Stage

SOURCE: Final = Path(__file__).with_name("Application.java")
PARTITIONS: Final = 2
WORDS: Final = ("to", "be", "or", "not", "that", "is", "the", "question", "whether", "tis", "nobler", "in", "mind")


class Application:
    """One of the topologies, under an application id.

    Attributes:
        group: the application id.
    """

    def __init__(self, stage: Stage, topology: str, *topics: str, settings: Mapping[str, object] | None = None) -> None:
        """Without settings it is of the classic protocol, with exactly_once_v2."""
        self.group = stage.name(topology)
        self._stage = stage
        self._topology, self._topics, self._settings = topology, topics, dict(settings or {})
        self._numbers = itertools.count()

    def start(self, **more: object) -> Running:
        """An instance more, with a state of its own; `more` are settings, with _ for each dot."""
        folder = self._stage.folder / f"state-{self._topology}-{next(self._numbers)}"
        settings = {**self._settings, **{key.replace("_", "."): value for key, value in more.items()}}
        words = [self._topology, self._stage.bootstrap_servers, self.group, str(folder), *self._topics]
        words += [f"{key}={value}" for key, value in settings.items()]
        classes = compiled(SOURCE, TOOLS)
        command = java_command("Application", *words, classes=classes, release=TOOLS, heap_mb=128)
        return self._stage.start(command, "application")
