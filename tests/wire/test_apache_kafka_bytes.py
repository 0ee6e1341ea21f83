"""Our codec against bytes that Apache Kafka's own message classes wrote, and damaged ones that they judged."""

from __future__ import annotations

from functools import cache

import pytest

from kafkawire import codec
from kafkawire.errors import MalformedMessage
from tests.wire.catalogue import READERS, layout, messages, named, walk
from tests.wire.json_values import from_json, without_records
from tests.wire.record_apache_kafka import Line, by_message, golden, witnessed

recorded = cache(golden)


def java_names() -> list[str]:
    return sorted(recorded())


def test_every_message_and_version_was_recorded():
    seen = {(named(name), line["v"]) for name in java_names() for line in recorded()[name] if "json" in line}
    assert seen == {(cls, v) for cls in messages() for v in range(cls.VERSIONS[0], cls.VERSIONS[1] + 1)}


@pytest.mark.parametrize("name", java_names())
def test_what_kafka_writes_we_read_and_write(name: str):
    for line in recorded()[name]:
        check_written(name, line)


@pytest.mark.parametrize("name", java_names())
def test_what_kafka_accepts_and_refuses_we_do_too(name: str):
    for line in recorded()[name]:
        check_judged(name, line)


@pytest.mark.parametrize("name", java_names())
def test_defaults_are_kafkas(name: str):
    for line in recorded()[name]:
        check_defaults(name, line)


@pytest.mark.oracle
@pytest.mark.parametrize("seed", [2, 3])
def test_other_values_from_a_live_jvm(seed: int):
    for name, lines in by_message(witnessed(seed, written=6, mutated=48)).items():
        for line in lines:
            check_written(name, line)
            check_judged(name, line)


def check_written(name: str, line: Line) -> None:
    if "json" not in line or "left" in line:
        return
    cls, version, data = named(name), line["v"], bytes.fromhex(line["hex"])
    of = layout(cls, version)
    expected = from_json(line["json"], of)
    for title, reader in READERS.items():
        read, end = reader(cls, version)(b"ab" + data + b"c", 2, len(data) + 2)
        assert end == len(data) + 2, title
        assert codec.encode(read, version) == data, title
        assert repr(without_records(read, of)) == repr(expected), title


def check_judged(name: str, line: Line) -> None:
    if "left" not in line and "error" not in line:
        return
    cls, version, data = named(name), line["v"], bytes.fromhex(line["hex"])
    of = layout(cls, version)
    for title in ("compiled", "reference"):
        reader = READERS[title](cls, version)
        if "error" in line:
            with pytest.raises(MalformedMessage):
                pytest.fail(f"{title} accepts {line} as {reader(data, 0, len(data))}")
        else:
            read, end = reader(data, 0, len(data))
            assert repr(without_records(read, of)) == repr(without_records(from_json(line["json"], of), of)), title
            assert len(data) - end == line["left"], title


def check_defaults(name: str, line: Line) -> None:
    if "defaults" not in line:
        return
    cls = named(name)
    _, _, inner = line["m"].partition(".")
    ours = {s.cls.__name__: s.cls for v in range(cls.VERSIONS[0], cls.VERSIONS[1] + 1) for s in walk(layout(cls, v))}
    struct = ours[inner or cls.__name__]
    rows = {row[0].replace("_", "").lower(): row for row in struct.FIELDS}
    for key, value in line["defaults"].items():
        row = rows[key.lower()]
        mine = getattr(struct(), row[0])
        if isinstance(value, dict):
            assert type(mine).__name__ == row[1], line
        elif row[1] == "uuid":
            assert (mine, value) == (bytes(16), "AAAAAAAAAAAAAAAAAAAAAA"), line
        elif row[1] == "records":
            assert mine is None, line
        else:
            assert repr({(): [], b"": ""}.get(mine, mine)) == repr(value), (line, row)
