"""Expressions by which members subscribe, beside RE2/J where it is at hand."""

from __future__ import annotations

import base64
import os
import random
from pathlib import Path

import pytest

from kafkastub.coordinator.modern.expressions import LONGEST, Expression
from kafkawire.errors import ErrorCode, KafkaError
from tests.oracle.apache_kafka import run_java

NAMES = [
    "a",
    "b",
    "aa",
    "ab",
    "ba",
    "aab",
    "A",
    "K",
    "s",
    "a-b",
    "a.b",
    "a_b",
    "0",
    "10",
    "orders",
    "Orders-1",
    "x.y-z_0",
]
PIECES = [
    *"aabbABkKsS01xyz.-_ .*+?|()[]{}^$\\-,:<>=!é",
    *(
        "a*",
        "b+?",
        ".*",
        "(",
        ")",
        "(?:",
        "(?i)",
        "(?i:",
        "(?-i)",
        "(?P<n>",
        "(?<m>",
        "(?m)",
        "(?sU-i:",
        "(?",
        "(?P=n)",
    ),
    *(
        "[a-z]",
        "[^a]",
        "[",
        "]",
        "[]a]",
        "[^]a]",
        "[a-]",
        "[b-a]",
        "[[:alpha:]]",
        "[[:^upper:]_]",
        "[[:x:]]",
        "[:",
        ":]",
    ),
    *("{2}", "{1,2}", "{0}", "{,2}", "{2,}", "{3,1}", "{1001}", "{01}", "{", "}", "{2", "**", "|", "||"),
    *(r"\d", r"\D", r"\w", r"\W", r"\s", r"\pL", r"\PL", r"\p{Lu}", r"\p{^Lu}", r"\P{^Ll}", r"\p{Greek}", r"\p{Latin}"),
    *(r"\p{x}", r"\p{", r"\p", r"\pN", r"\b", r"\B", r"\A", r"\z", r"\Z", r"\C", r"\Q*a", r"\E", r"\Qa.b\E", "\\"),
    *(
        r"\x61",
        r"\x{61}",
        r"\x{}",
        r"\x6",
        r"\x{110000}",
        r"\141",
        r"\1",
        r"\08",
        r"\n",
        r"\-",
        r"\.",
        r"\_",
        r"\e",
        r"\é",
    ),
    *("\u212a", "\u017f", "[\u2128-\u212c]", "^", "$", "orders", "Orders-", "[a-\\d]", "[\\d-z]", "[\\w.-]"),
]

"""No wide ranges of other alphabets: with (?i) before them RE2/J 1.8 on Java 17 never ends."""


def found(pattern: str) -> str:
    """As the Java program says it."""
    try:
        matching = set(Expression(pattern).matches(NAMES))
    except KafkaError as error:
        start = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: "
        return f"X {(error.message or '').removeprefix(start).removesuffix('.')}"
    return "".join("y" if name in matching else "n" for name in NAMES)


@pytest.mark.oracle
def test_expressions_mean_what_they_mean_to_kafka():
    chance = random.Random(int(os.environ.get("KAFKASTUB_EXPRESSION_SEED", "848")))
    patterns = [
        *PIECES,
        "",
        "a)",
        "a|b)",
        "(a",
        "a|*",
        "x{2}{3}",
        "(?i)ORDERS(?-i)-\\d",
        "(a*)*b",
        "(|a)+",
        "^*a",
        "a$b",
    ]
    for _ in range(20_000):
        patterns.append("".join(chance.choices(PIECES, k=chance.choice((1, 2, 3, 4, 6, 9)))))
    lines = [" ".join(NAMES), *(base64.b64encode(pattern.encode()).decode() for pattern in patterns)]
    done = run_java(Path(__file__).with_name("Expressions.java"), stdin="\n".join(lines) + "\n", timeout=40)
    assert done.returncode == 0, done.stderr
    wanted = done.stdout.splitlines()
    assert len(wanted) == len(patterns)
    differing = [(p, found(p), want) for p, want in zip(patterns, wanted, strict=True) if found(p) != want]
    assert differing[:5] == []
    assert sum("y" in line and not line.startswith("X") for line in wanted) > len(wanted) // 20


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("orders", ["orders"]),
        ("a", ["a"]),
        ("a|b+|[0-9]*", ["a", "b", "0", "10"]),
        ("(?i)orders.*", ["orders", "Orders-1"]),
        (r"\w+\b.\w+", ["a-b", "a.b", "Orders-1"]),
        (r"\Qa.b\E|.{8,}", ["a.b", "Orders-1"]),
        (r"\p{Lu}.*", ["A", "K", "Orders-1"]),
        ("(a*)*", ["a", "aa"]),
        ("$^", []),
        ("^orders$", ["orders"]),
        ("", []),
    ],
)
def test_the_whole_name_has_to_match(pattern: str, matching: list[str]):
    assert Expression(pattern).matches(NAMES) == matching


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(orders", "missing closing )"),
        ("[a", "missing closing ]"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("a{1001}", "invalid repeat count"),
        ("\\", "trailing backslash at end of expression"),
    ],
)
def test_what_is_no_expression_is_refused_in_kafkas_words(pattern: str, why: str):
    with pytest.raises(KafkaError) as refused:
        Expression(pattern)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert refused.value.message == f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {why}."


@pytest.mark.parametrize(
    "pattern",
    ["a" * (LONGEST + 1), "((a{1000}){1000}){1000}", "(?:" * 500 + "a" + "b)*" * 500],
    ids=["long", "large", "deep"],
)
def test_what_would_take_all_memory_or_time_is_refused_and_says_how_much_may_be(pattern: str):
    with pytest.raises(KafkaError, match="this broker") as refused:
        Expression(pattern)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_an_expression_that_takes_long_lets_others_have_their_turn():
    chance = random.Random(1)
    names = ["".join(chance.choices("ab", k=249)) for _ in range(20)]
    expression = Expression("(?:.*a.{100}){2}")
    found = list(expression.matching(names))
    assert found.count(None) > 10
    assert [name for name in found if name is not None] == expression.matches(names)
    # two letters a, each with a hundred letters behind it
    assert expression.matches(names) == [name for name in names if _twice(name)]


def _twice(name: str) -> bool:
    second = len(name) - 101
    return name[second] == "a" and "a" in name[: second - 100]
