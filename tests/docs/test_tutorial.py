"""docs/tutorial.md: a reader who follows it sees what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.conftest import OF_A_USER
from tests.docs.generated import DOCS

BLOCKS: Final = re.findall(r"```(python|console)\n(.*?)```", (DOCS / "tutorial.md").read_text(), re.DOTALL)
_CHANGES: Final = {
    "test_holiday.py, the marker": r'@pytest\.mark\.kafka_stub\(topics=\["orders", "shipments"\]\)\n',
    "shipping.py, the commit": r" *consumer\.commit\(order, asynchronous=False\)\n",
}
"""What a reader replaces in a file that is there."""


def test_the_tutorial_goes_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    for language, text in BLOCKS:
        if language == "python":
            _write(tmp_path, text)
        else:
            _run(tmp_path, text)


def _write(folder: Path, text: str) -> None:
    head, _, body = text.partition("\n")
    name = head.removeprefix("# ")
    if name not in _CHANGES:
        (folder / name).write_text(body)
        return
    path = folder / name.partition(",")[0]
    before = path.read_text()
    after, count = re.subn(_CHANGES[name], lambda _: body, before)
    assert count == 1, name
    path.write_text(after.replace("import Consumer, Producer", "import Consumer, KafkaException, Producer"))


def _run(folder: Path, text: str) -> None:
    command, *promised = text.splitlines()
    words = command.removeprefix("$ ").split()
    assert words[0] == "pytest"
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *OF_A_USER, *words[1:]]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=300)
    said, at = done.stdout, 0
    for line in promised:
        at = said.find(line, at)
        assert at >= 0, f"{command}: {line!r} is not there, or not in this order\n{said}\n{done.stderr}"
