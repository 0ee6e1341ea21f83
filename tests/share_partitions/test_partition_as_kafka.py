"""A share partition beside Kafka's own class: the same lives, the same answers, and the same to be seen after each.

KAFKASTUB_SHARE_SEED=7 plays other lives, KAFKASTUB_SHARE_LIVES=100000 more of them. Where Kafka's class falls over
itself, a life is not followed any further; it does in four ways:

- offsets are acknowledged from before the start offset on, and nothing is in flight there: a null. Both refuse.
- a transaction was aborted in a batch in which the start offset is: acquired, and then not told to anybody.
- what was kept of the partition ends before the batch that is read: an impossible range.
- all that is known lies before the start offset, offset by offset, as something is written: a null, so that dead
  letters are not sent.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.oracle.jars import compiled, java_command
from tests.share_partitions.scenarios import scenario

_LIVES = int(os.environ.get("KAFKASTUB_SHARE_LIVES", "3000"))
_SEED = os.environ.get("KAFKASTUB_SHARE_SEED", "932")


@pytest.mark.oracle
def test_lives_of_a_share_partition_are_those_of_kafka():
    lives = [list(scenario(random.Random(f"{_SEED}-{number}"), 40)) for number in range(_LIVES)]
    answers = iter(_play([line for life in lives for line, _ in life]))
    ends: Counter[str] = Counter()
    for life in lives:
        played = [(line, ours, next(answers)) for line, ours in life]
        told = ""
        for number, (line, ours, kafka) in enumerate(played):
            told = _falls_over(ours, kafka)
            if told:
                break
            if ours != kafka and not (ours.startswith("UNKNOWN") and _seen(ours) == _seen(kafka)):
                before = "\n".join(f"{earlier}\n    {answer}" for earlier, answer, _ in played[:number])
                pytest.fail(f"{before}\n{line}\nours  {ours}\nKafka {kafka}")
        ends[told] += 1
    assert ends[""] > 0.9 * _LIVES, ends
    assert ends.keys() <= {"", "aborted", "range", "letters"}


def _falls_over(ours: str, kafka: str) -> str:
    if kafka.startswith("threw java.lang.IllegalStateException"):
        return "aborted"
    if "inconsistent range" in kafka:
        return "range"
    if ours != kafka and kafka.endswith(" sent ") and ours.startswith(kafka):
        return "letters"
    return ""


def _seen(answer: str) -> str:
    return answer.split(" | ", 1)[1]


def _play(lines: list[str]) -> list[str]:
    source = Path(__file__).with_name("SharePartitions.java")
    command = java_command("kafka.server.share.SharePartitions", classes=compiled(source), heap_mb=512, log_level="OFF")
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines)
    return answers
