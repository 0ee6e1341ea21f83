"""server.properties is read as java.util.Properties reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkastub.config import ConfigError, load_properties, parse_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1\nb:2\nc 3", {"a": "1", "b": "2", "c": "3"}),
        ("  a = 1 ", {"a": "1 "}),
        ("a\t:\t1", {"a": "1"}),
        ("a = = 1", {"a": "= 1"}),
        ("a", {"a": ""}),
        ("=1", {"": "1"}),
        ("# no\n  ! no\n\n \t\na=1", {"a": "1"}),
        ("a=1,\\\n   2,\\\n\t3\nb=4", {"a": "1,2,3", "b": "4"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=1\\\n# part of it", {"a": "1# part of it"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a\\=b\\:c\\ d=1", {"a=b:c d": "1"}),
        ("a=\\u00e9\\t\\n\\x", {"a": "é\t\nx"}),
        ("a=\\ud83d\\ude00", {"a": "\N{GRINNING FACE}"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
        ("", {}),
    ],
)
def test_the_format(text: str, expected: dict[str, str]):
    assert parse_properties(text) == expected


def test_a_file(tmp_path: Path):
    path = tmp_path / "server.properties"
    path.write_text("process.roles=broker,controller\nlog.retention.hours=168\n")
    assert load_properties(path) == {"process.roles": "broker,controller", "log.retention.hours": "168"}


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"nope\.properties can't be read: No such file"):
        load_properties(tmp_path / "nope.properties")


def test_a_broken_escape(tmp_path: Path):
    path = tmp_path / "server.properties"
    path.write_text("a=\\u12g4")
    with pytest.raises(ConfigError, match=r"server\.properties is refused: .u12g4 is not an escape"):
        load_properties(path)
