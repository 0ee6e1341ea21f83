"""The expressions of client metrics subscriptions: what they mean is what Python's mean, at a price that is known."""

from __future__ import annotations

import random
import re
import time

import pytest

from kafkastub.config.patterns import LONGEST_TEXT, MOST_PLACES, NotServed, Pattern

ATOMS = [
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    r"\w",
    "(a|b)",
    "(?:ab)?",
    "(a*)*",
    "(a+)+",
    "(|a)",
    "a{2}",
    "(ab|b){1,}",
    r"\.",
]
REPEATED = ["", "", "*", "+", "?", "{1,2}", "*?"]


def test_it_means_what_pythons_means():
    rng, compared = random.Random(20461), 0
    for _ in range(3000):
        expression = "".join(rng.choice(ATOMS) + rng.choice(REPEATED) for _ in range(rng.randint(1, 4)))
        expression += rng.choice(["", "", f"|{rng.choice(ATOMS)}"])
        try:
            known, ours = re.compile(expression), Pattern(expression)
        except (re.error, NotServed):  # one repetition of another one
            continue
        compared += 1
        for _ in range(5):
            text = "".join(rng.choice("ab.c") for _ in range(rng.randint(0, 6)))
            assert ours.fullmatch(text) is (known.fullmatch(text) is not None), (expression, text)
    assert compared > 1000


@pytest.mark.parametrize(
    ("expression", "text", "fits"),
    [
        ("^11\\.1.*$", "11.1.3", True),
        ("10\\.[0-9]{1,3}\\..*", "10.23.4.5", True),
        ("[a-z_\\-]+", "a_b-c", True),
        ("[]a]", "]", True),
        ("[^]a]+", "b]", False),
        ("a\\-b", "a-b", True),
        (".", "\n", False),
        ("\\S+", "a b", False),
        ("a{0}b", "b", True),
        ("(){150}a", "a", True),
        ("a", "a" * (LONGEST_TEXT + 1), False),
    ],
)
def test_what_is_served(expression: str, text: str, fits: bool):
    assert Pattern(expression).fullmatch(text) is fits


@pytest.mark.parametrize(
    "expression",
    [
        "", "(", ")", "a)", "[a", "*a", "a{2,1}", "a{x}", "a{99999}", "(?=a)", "(?i)a", r"(a)\1", r"\p{Alpha}", "a*+",
        "[a&&b]", "[[a]]", "[b-a]", "a^b", "a$b", f"a{{{MOST_PLACES + 1}}}", "((a{20}){20}){20}", "(((){99}){99}){99}",
        "(" * 60 + "a" + ")" * 60, "\\",
    ],
)  # fmt: skip
def test_what_is_not_served(expression: str):
    with pytest.raises(NotServed, match=r"\S"):
        Pattern(expression)


@pytest.mark.parametrize("expression", ["(a+)+b", "(.*.*.*.*)*x", "(a?){90}a{90}", "(a|aa|aaa)*b"])
def test_no_text_takes_long(expression: str):
    pattern = Pattern(expression)
    begin = time.process_time()
    pattern.fullmatch("a" * LONGEST_TEXT)
    assert time.process_time() - begin < 1
