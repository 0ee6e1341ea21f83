"""Record golden/: play every history of Kafka's tools on an Apache Kafka of its own.

`python -m tests.clients.record_tools [NAME ...]`
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.clients.histories import HISTORIES, settings_of
from tests.clients.jvm import Jvm
from tests.clients.tools import GOLDEN, Terminal
from tests.conftest import APACHE_CONFIG
from tests.oracle.apache_kafka import ApacheKafka


def main(names: list[str]) -> None:
    GOLDEN.mkdir(exist_ok=True)
    with Jvm() as jvm:
        for name in names or HISTORIES:
            with (
                ApacheKafka(config={**APACHE_CONFIG, **settings_of(name)}) as kafka,
                tempfile.TemporaryDirectory() as folder,
            ):
                terminal = Terminal(jvm, kafka.bootstrap_servers, Path(folder))
                HISTORIES[name](terminal)
            (GOLDEN / f"{name}.txt").write_text(terminal.transcript)
            print(f"{name}: {len(terminal.transcript.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
