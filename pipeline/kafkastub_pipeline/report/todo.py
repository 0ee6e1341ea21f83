"""The first lines of the page: the three things to do now, the most urgent first, each with its command.

In this order: a transaction that hangs, for it stops readers until somebody acts; positions that are lost within a day,
those of groups that are behind before the others; guarantees that were not kept; groups that rebalance one time after
the other; offsets that live groups have left.
"""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from typing import Final

from kafkastub_pipeline.report.facts import Facts, Row
from kafkastub_pipeline.report.quoting import has_unseen, quoted, spelt

MOST: Final = 3
_SOON: Final = timedelta(days=1)
_SERVER: Final = re.compile(r"^kafka-consumer-groups\.sh --bootstrap-server ('(?:[^']|'\"'\"')*'|\S+) ")
_NUL: Final = spelt("\0")[2:-1]
"""No shell passes on a name with this character: what comes behind it would be another name."""
_NOBODY: Final = "HOST:PORT"


def things_to_do(facts: Facts) -> list[Row]:
    """Return at most three: what (`title`), why (`why`) and `command`."""
    server = _server(facts)
    found = [
        *_hanging(facts, server),
        *_expiring(facts, server),
        *_broken(facts),
        *_stormy(facts, server),
        *_left(facts),
    ]
    return [one for one in found if "\0" not in one["command"] and _NUL not in one["command"]][:MOST]


def _server(facts: Facts) -> str:
    """The brokers, as a shell's word, where a command of the tables names them."""
    for row in [] if facts.stale is None else facts.stale["commands"]:
        named = _SERVER.match(str(row["command"]))
        if named is not None:
            return named[1]
    return _NOBODY


def _hanging(facts: Facts, server: str) -> list[Row]:
    if facts.held is None or not facts.held["hanging"]:
        return []
    row = facts.held["first"][0]
    whose = "of nobody that the coordinator knows" if row["transactional_id"] is None else "of"
    return [
        {
            "title": f"Abort the transaction that holds {row['topic']}-{row['partition']} back",
            "why": f"Consumers that read committed records stop at offset {row['last_stable_offset']}, with"
            f" {row['records_held']} records behind it. The transaction is {whose}",
            "name": row["transactional_id"],
            "command": f"kafka-transactions.sh --bootstrap-server {server} abort --topic {quoted(row['topic'])}"
            f" --partition {row['partition']} --start-offset {row['last_stable_offset']}",
        }
    ]


def _expiring(facts: Facts, server: str) -> list[Row]:
    """Groups whose positions expire within a day: to write them down costs nothing, whatever becomes of the group."""
    if facts.expiry is None or facts.expiry["as_of"] is None:
        return []
    until = facts.expiry["as_of"] + _SOON
    soon = [row for row in facts.expiry["first"] if row["first"] is not None and row["first"] <= until]
    soon.sort(key=lambda row: not row.get("lag_records"))
    return [
        {
            "title": "Save the positions of a group before they expire",
            "why": f"{row['offsets']} offsets begin to expire at {row['first']:%Y-%m-%d %H:%M:%S} UTC"
            + (f", and the group is {row['lag_records']} records behind" if row.get("lag_records") else "")
            + ". Start its consumers, or keep what this prints. The group is",
            "name": row["group_id"],
            "command": f"kafka-consumer-groups.sh --bootstrap-server {server} --group {quoted(row['group_id'])}"
            " --all-topics --reset-offsets --to-current --dry-run --export",
        }
        for row in soon[:MOST]
        if row["group_id"]
    ]


def _broken(facts: Facts) -> list[Row]:
    if facts.guarantees is None or not facts.guarantees["findings"]:
        return []
    row = facts.guarantees["first"][0]
    return [
        {
            "title": f"See why the guarantee {row['guarantee']} was not kept",
            "why": row["cause"],
            "name": None,
            "command": "kafkastub check DIR",
        }
    ]


def _stormy(facts: Facts, server: str) -> list[Row]:
    """The group with most rebalances: its members read nothing while they last."""
    found = [] if facts.findings is None else facts.findings["first"]
    worst = [row for row in found if row["finding"] == "rebalance_storm" and row["group_id"]]
    return [
        {
            "title": "See why the members of a group come and go",
            "why": f"It began {int(row['peak'])} generations within ten minutes: {row['evidence']}. The group is",
            "name": row["group_id"],
            "command": f"kafka-consumer-groups.sh --bootstrap-server {server} --group {quoted(row['group_id'])}"
            " --describe --members --verbose",
        }
        for row in worst[:1]
    ]


def _left(facts: Facts) -> list[Row]:
    """Offsets of topics that a live group does not read any more: their lag is not real, and alarms hang on it."""
    live = [] if facts.stale is None else [row for row in facts.stale["commands"] if row["live"]]
    return [
        {
            "title": f"Delete offsets of {row['topic']}, which a live group has left",
            "why": "Nobody will read on there: what is counted as lag is none. The group is",
            "name": row["group_id"],
            "command": command(row)["command"],
        }
        for row in live[:1]
    ]


def command(row: Row) -> Row:
    """One OffsetDelete for all stale partitions of a topic, made of the table's command for one of them.

    A topic's name has neither quotes nor spaces, so that the last `--topic` is the command's own.
    """
    head, found, _ = str(row["command"]).rpartition(" --topic ")
    if not found:
        return row
    group = str(row["group_id"])
    if has_unseen(group):
        head = f"{head.partition(' --group ')[0]} --group {spelt(group)}"
    places = f"{row['topic']}:{','.join(map(str, row['partitions']))}"
    return row | {"command": f"{head} --topic {shlex.quote(places)}"}
