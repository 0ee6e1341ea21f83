"""kcat plays the scenario: each part of it is a run of the program.

It commits by itself, when it ends; so a place in the middle of a batch is had by producing the rest later.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading

from telling import BATCH, BOOTSTRAP, GROUP, PARTITIONS, SECONDS, TOPIC, Row, shared, tell, until, value

NO_CALL = "kcat has no administration"


def produce(first: int, count: int = BATCH) -> None:
    """So many records to each partition, from this number on."""
    for partition in PARTITIONS:
        text = "\n".join(value(partition, number).decode() for number in range(first, first + count))
        command = ["kcat", "-b", BOOTSTRAP, "-P", "-t", TOPIC, "-p", str(partition), "-X", "acks=all"]
        subprocess.run(command, input=text, text=True, check=True, timeout=SECONDS)


class Member:
    """A kcat that consumes in the group until it is told to end."""

    def __init__(self) -> None:
        settings = ["auto.offset.reset=earliest", "heartbeat.interval.ms=200", "auto.commit.interval.ms=3600000"]
        options = [word for setting in settings for word in ("-X", setting)]
        self._process = subprocess.Popen(
            ["kcat", "-b", BOOTSTRAP, "-G", GROUP, "-u", "-J", *options, TOPIC],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.records: list[Row] = []
        self.assigned: list[int] = []
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._listen)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        if self._process.wait(SECONDS):
            raise RuntimeError(f"kcat ended with {self._process.returncode}")
        for thread in self._threads:
            thread.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            row = json.loads(line)
            self.records.append((row["partition"], row["offset"], row["payload"]))

    def _listen(self) -> None:
        """It tells of its assignment on standard error: `… assigned: topic [0], topic [1]`."""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "rebalanced" in line:
                now = line.partition(" assigned:")[2]
                self.assigned = sorted(map(int, re.findall(r"\[(\d+)\]", now)))


def main() -> None:
    produce(0)
    tell("produce")

    first = Member()
    until(lambda: len(first.records) >= BATCH * len(PARTITIONS), "all records")
    records = first.records[:]
    first.close()
    tell("consume", records=records, note="kcat commits when it ends")

    members = [Member()]
    until(lambda: bool(members[0].assigned), "the first has partitions")
    members.append(Member())
    until(lambda: shared([one.assigned for one in members]), "both have partitions")
    tell("rebalance", members=[one.assigned for one in members])
    produce(BATCH)
    until(lambda: sum(len(one.records) for one in members) >= BATCH * len(PARTITIONS), "the second batch")
    tell("share", records=[one.records for one in members])
    for one in members:
        one.close()
    tell("commit", committed=dict.fromkeys(PARTITIONS, 2 * BATCH), note="kcat commits when it ends")
    tell("leave")

    produce(2 * BATCH, 5)
    again = Member()
    until(lambda: len(again.records) >= 5 * len(PARTITIONS), "what is left")
    again.close()
    tell("resume", records=again.records)
    tell("delete_offsets", cannot=NO_CALL)
    tell("delete_group", cannot=NO_CALL)


main()
