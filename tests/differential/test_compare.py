"""How the fields that differ are named: what has a name by that, anything else by its place."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafkastub_conformance.differential.compare import Difference, fields
from kafkastub_conformance.differential.names import Names
from kafkastub_conformance.differential.names_data import normalise_data
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.differential.replay import replay
from kafkastub_conformance.differential.script import Script
from kafkastub_conformance.differential.testcase import file_name
from tests.differential.visits import two


def topics(*named: str, **more: Any) -> dict[str, Any]:
    return {"topics": [{"name": name, **more} for name in named]}


@pytest.mark.parametrize(
    ("expected", "got", "told"),
    [
        (
            topics("a", "b", error_code=3),
            {"topics": [{"name": "a", "error_code": 3}, {"name": "b"}]},
            ["topics[name=b].error_code: expected 3 UNKNOWN_TOPIC_OR_PARTITION, got 0 NONE"],
        ),
        (topics("a", "b", "c"), topics("a", "c"), ['topics[name=b]: expected {"name": "b"}, got (not there)']),
        (topics("b"), topics("a", "b"), ['topics[name=a]: expected (not there), got {"name": "a"}']),
        (
            topics("a", "b"),
            {"topics": [{"name": "b", "error_code": 3}]},
            [
                'topics[name=a]: expected {"name": "a"}, got (not there)',
                "topics[name=b].error_code: expected 0 NONE, got 3 UNKNOWN_TOPIC_OR_PARTITION",
            ],
        ),
        # Another order, other names, names that are there twice or not at all: by the place.
        (
            topics("a", "b"),
            topics("b", "a"),
            ['topics[0].name: expected "a", got "b"', 'topics[1].name: expected "b", got "a"'],
        ),
        (topics("a"), topics("b"), ['topics[0].name: expected "a", got "b"']),
        (
            topics("a", "a"),
            topics("a", "a", error_code=3),
            [f"topics[{n}].error_code: expected 0 NONE, got 3" for n in (0, 1)],
        ),
        (topics(""), topics("", index=3), ["topics[0].index: expected (the default), got 3"]),
        (topics("a"), {}, ['topics: expected [{"name": "a"}], got (the default)']),
        ({"nodes": [1, 2]}, {"nodes": [1, 3]}, ["nodes[1]: expected 2, got 3"]),
        ({"nodes": [1, 2]}, {"nodes": [1]}, ["nodes: expected [1, 2], got [1]"]),
    ],
)
def test_the_path_of_a_difference(expected: Any, got: Any, told: list[str]):
    found = [str(one) for one in fields(expected, got)]
    assert len(found) == len(told)
    assert all(line.startswith(start) for line, start in zip(found, told, strict=True)), found


def described(play: Play) -> None:
    names = ["retention.ms", "segment.bytes"]
    resources = [{"resource_type": 2, "resource_name": name, "configuration_keys": names} for name in ("t1", "t2")]
    play.ask("c1", "DescribeConfigs", 1, {"resources": resources})


def test_a_configuration_that_differs_is_named():
    with two({"log.segment.bytes": 1048576}) as (_, tested, reference):
        scenario, _ = Script("configs-1", described).play(reference)
        difference = replay(scenario, tested)
    assert difference is not None
    assert [field.path for field in difference.fields if field.path.endswith(".value")] == [
        f"answer on c1.results[resource_name={topic}].configs[name=segment.bytes].value" for topic in ("t1", "t2")
    ]
    assert difference.signature == ("DescribeConfigs", "answer on c1.results[].configs[].value")
    assert file_name(difference) == "configs_1_describeconfigs_v1_value"


def test_a_file_is_named_after_a_field_whatever_its_place_is_called():
    with two() as (_, _, reference):
        scenario, _ = Script("configs-1", described).play(reference)
    missing = list(fields({"configs": [{"name": "a"}, {"name": "x.y"}]}, {"configs": [{"name": "a"}]}))
    assert file_name(Difference(scenario, 0, missing)) == "configs_1_describeconfigs_v1_configs"


def test_times_within_texts_are_not_compared():
    """Two brokers are asked one after the other; the largest long is a limit that leads far before 1970."""

    def shown(now: int) -> Any:
        text = f"should be within [{now - 2**63 + 1}, {now}], [-9223372036854775808, 1000000000000]"
        return normalise_data(Names("p", frozenset(), 1), "Produce", {}, {"text": text})["text"]

    now = time.time_ns() // 1_000_000
    assert shown(now) == shown(now + 31)
    assert shown(now).endswith("], [-9223372036854775808, 1000000000000]")


@pytest.mark.parametrize("length", range(3, 7))
def test_a_name_that_broken_bytes_cut_off_within_its_prefix_is_the_same_in_every_play(length: int):
    """Two plays have numbers of their own: what is left of them was told as a difference."""
    cut = [Names(prefix).stable("x" + prefix[:length]) for prefix in ("p00039-", "p00040-")]
    assert cut[0] == cut[1] == f"x<p, {length} characters>"
    assert Names("p00039-").stable("up") == "up"
