"""Fault rules as data: what is refused and why, dicts, YAML."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.faults import FaultError, FaultRule, load_rules

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"api": "OffsetComit", "drop": "after"}, "OffsetCommit is meant"),
    ({"api": 4711, "drop": "after"}, "no API of this key"),
    ({"api": [], "drop": "after"}, "names no API"),
    ({"api": "Fetch", "error": "NOT_A_LEADER_OR_FOLLOWER"}, "NOT_LEADER_OR_FOLLOWER is meant"),
    ({"api": "Fetch", "error": "NONE"}, "not a fault"),
    ({"api": "Fetch"}, "does nothing"),
    ({"api": "Fetch", "drop": "sometimes"}, '"before" or "after"'),
    ({"api": "Fetch", "drop": "after", "cut": 3}, "drop and cut contradict"),
    ({"api": "Fetch", "error": "UNKNOWN_SERVER_ERROR", "silent": True}, "error and silent contradict"),
    ({"api": "Fetch", "drop": "after", "throttle_time_ms": 5}, "no answer to stand in"),
    ({"api": "Fetch", "silent": True, "delay_ms": 5}, "leave it out"),
    ({"api": "Fetch", "delay_ms": -1}, "delay_ms=-1"),
    ({"api": "Fetch", "delay_ms": 10**9}, "a day"),
    ({"api": "Fetch", "delay_ms": "5"}, "whole number"),
    ({"api": "Fetch", "delay_ms": 5, "share": 0}, "share=0"),
    ({"api": "Fetch", "delay_ms": 5, "every": 0}, "every=0"),
    ({"api": "Fetch", "delay_ms": 5, "versions": "9-3"}, "FIRST-LAST"),
    ({"api": "Fetch", "delay_ms": 5, "until": "tomorrow"}, "with its zone"),
    ({"api": "Fetch", "delay_ms": 5, "until": -3}, "more than 0 seconds"),
    ({"api": "Fetch", "delay_ms": 5, "tpic": "orders"}, "topic is meant"),
]

REFUSED_BY_A_BROKER: list[tuple[dict[str, Any], str]] = [
    ({"api": "OffsetCommit", "versions": "0-1", "drop": "after"}, "served from 2 to"),
    ({"api": "UpdateMetadata", "drop": "after"}, "does not serve it"),
    ({"api": "CreateTopics", "group": "g", "drop": "after"}, "names no group"),
    ({"api": "Heartbeat", "topic": "orders", "drop": "after"}, "names no topic"),
    ({"api": "Metadata", "partition": 1, "drop": "after"}, "names no partition"),
    ({"api": "OffsetCommit", "versions": 2, "throttle_time_ms": 100}, "v3-10 has it"),
    ({"api": "Fetch", "delay_ms": 5, "until": datetime(2001, 1, 1, tzinfo=UTC)}, "it is in the past"),
]


@pytest.mark.parametrize(("fields", "why"), REFUSED)
def test_what_makes_no_sense_is_refused_with_the_reason(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(FaultError, match=why):
        FaultRule.from_dict(fields)


def test_what_can_never_match_on_this_broker_is_refused_with_the_reason() -> None:
    with KafkaStub() as stub:
        for fields, why in REFUSED_BY_A_BROKER:
            with pytest.raises(FaultError, match=why):
                stub.faults.add(**fields)
        assert len(stub.faults) == 0


def test_a_broker_of_an_old_release_refuses_what_it_does_not_serve() -> None:
    with KafkaStub(as_version="2.1") as stub, pytest.raises(FaultError, match="does not serve"):
        stub.faults.add(api="OffsetDelete", drop="after")


def test_a_rule_is_the_same_after_a_way_through_a_dict() -> None:
    rule = FaultRule(
        api=["Fetch", "PRODUCE"], topic="orders", error="NOT_LEADER_OR_FOLLOWER", share=0.5, seed=7,
        until=datetime(2040, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    said = rule.to_dict()
    assert said["api"] == ["Fetch", "PRODUCE"]
    assert FaultRule.from_dict(said).to_dict() == said
    assert FaultRule.from_dict(said).keys == rule.keys


def test_rules_are_read_from_yaml_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("faults:\n- {api: OffsetCommit, error: NOT_COORDINATOR, times: 3}\n- {api: Fetch, delay_ms: 20}\n")
    assert load_rules(file) == [
        FaultRule(api="OffsetCommit", error="NOT_COORDINATOR", times=3),
        FaultRule(api="Fetch", delay_ms=20),
    ]
    file.write_text("- {api: Fetch, delay_ms: 20}\n- {api: Fetsch, delay_ms: 20}\n")
    with pytest.raises(FaultError, match=r"rule 2: .*Fetch is meant"):
        load_rules(file)
    file.write_text("a: [")
    with pytest.raises(FaultError, match="not valid YAML"):
        load_rules(file)
    with pytest.raises(FaultError, match="cannot read"):
        load_rules(tmp_path / "nothing.yaml")


LAUGHS = "".join(f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 10)}]\n" for level in range(1, 12))
MERGES = "".join(f"m{level}: &m{level} {{<<: [{', '.join([f'*m{level - 1}'] * 10)}]}}\n" for level in range(1, 12))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("l0: &l0 [a]\n" + LAUGHS, "more than 100000 values, with its aliases written out"),
        ("m0: &m0 {a: b}\n" + MERGES, "more than 100000 values, with its aliases written out"),
        ("- api: &a [*a]\n", "nested too deeply, or contains itself"),
        ("[" * 100_000, "nested too deeply"),
        ("a: " * 1000, "is not valid YAML"),
        ("- {api: Fetch, until: 2001-99-99}\n", "is not valid YAML"),
        ("- {api: Fetch, times: " + "9" * 10_000 + "}\n", "is not valid YAML"),
        ("- {api: [" + "Fetch, " * 2000 + "]}\n", "rule 1: this is not a fault rule: it has more than 1000 values"),
        ("- [" + "x, " * 2000 + "]\n", "rule 1: this is not a fault rule: it has more than 1000 values"),
        ("- {group: " + "x" * 200_000 + "}\n", "or 100000 characters"),
        ("#" * (1 << 20) + "\n", "more than 1048576 bytes"),
    ],
    ids=[
        "laughs", "merges", "itself", "deep", "colons", "date", "number", "apis", "list", "name", "long",
    ],
)  # fmt: skip
def test_a_hostile_file_is_refused_in_one_sentence(tmp_path: Path, content: str, says: str) -> None:
    """Aliases of aliases stood for ten thousand million values; deep nesting ended in a traceback."""
    file = tmp_path / "faults.yaml"
    file.write_text(content)
    with pytest.raises(FaultError) as refused:
        load_rules(file)
    assert says in str(refused.value)
    assert len(str(refused.value)) < 1500
    assert "\n" not in str(refused.value)


def test_aliases_that_stand_for_little_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("- &first {api: Fetch, delay_ms: 20}\n- {<<: *first, delay_ms: 30}\n- *first\n")
    assert [rule.delay_ms for rule in load_rules(file)] == [20, 30, 20]
