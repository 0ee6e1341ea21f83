"""docs/page.md: every view has its pictures there, light and dark, and none is left over (`make pictures`)."""

from __future__ import annotations

import re
import struct

from tests.page.pictures import ON_A_PHONE, PICTURES, SIZE, THEMES
from tests.page.views import VIEWS

GUIDE = (PICTURES.parent / "page.md").read_text()


def test_each_view_has_a_picture_of_each_theme_and_the_guide_shows_it() -> None:
    named = set(re.findall(r"!\[[^]]+\]\(pictures/([a-z-]+)\.png\)", GUIDE))
    wanted = {f"{view}-{theme}" for view in VIEWS for theme in THEMES} | {f"{view}-phone" for view in ON_A_PHONE}
    there = {path.stem for path in PICTURES.glob("*.png")}
    assert there == wanted
    assert named == wanted


def test_pictures_are_small() -> None:
    for path in PICTURES.glob("*.png"):
        content = path.read_bytes()
        assert len(content) < 90_000, path.name
        if not path.stem.endswith("-phone"):
            assert struct.unpack_from(">II", content, 16) == SIZE, path.name


def test_every_picture_says_what_it_shows() -> None:
    assert not re.findall(r"!\[\s*\]", GUIDE)
