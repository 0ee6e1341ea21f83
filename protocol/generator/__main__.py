"""Write `kafkawire/messages/` from Apache Kafka's own message definitions.

The definitions are the JSON files inside the jars kafka-clients and kafka-*-coordinator (`common/message/*.json`).
What is taken over are facts: names, types, versions, nullability, tags, defaults. Run as

    python protocol/generator JAR [JAR ...] [--check] [--out DIR]

`--check` writes nothing and exits with status 1 when a file would change.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from definitions import Message, load_messages
from emit import emit_index, emit_module

OUT = Path(__file__).resolve().parent.parent / "kafkawire" / "messages"


def generate(jars: list[Path]) -> dict[str, str]:
    """File name -> source, for every message with at least one valid version."""
    messages: list[Message] = []
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            messages.extend(load_messages(archive))
    files = {f"{message.module}.py": emit_module(message) for message in messages}
    files["__init__.py"] = emit_index(messages)
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description="generate kafkawire/messages from Kafka's message definitions")
    parser.add_argument("jars", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    files = generate(arguments.jars)
    present = {path.name: path.read_text() for path in arguments.out.glob("*.py")}
    stale = sorted(name for name in files.keys() | present.keys() if files.get(name) != present.get(name))
    if arguments.check:
        for name in stale:
            print(f"{name} is not what the definitions say; run the generator", file=sys.stderr)
        return 1 if stale else 0
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in files:
            (arguments.out / name).write_text(files[name])
        else:
            (arguments.out / name).unlink()
    print(f"{len(files)} modules, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
