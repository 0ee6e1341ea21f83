"""franz-go's GroupTransactSession."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.programs import etl
from tests.programs.stage import Stage
from tests.toolchains import CACHE, build_go, locked_go, need

HERE: Final = Path(__file__).resolve().parent
BUILT: Final = CACHE / "programs" / "go"

version = locked_go(HERE, "github.com/twmb/franz-go")


def build() -> None:
    need("go")
    build_go(HERE, BUILT)


def play(stage: Stage) -> Iterator[str]:
    return etl.play(stage, [str(BUILT / "etl")])
