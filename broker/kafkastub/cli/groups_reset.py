"""`kafkastub groups reset-offsets`: where offsets are to go, and the going."""

from __future__ import annotations

import argparse
import csv
import io
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkastub.cli import kafka_order, log_places, output
from kafkastub.cli.broker import UsageError, add_client_action
from kafkastub.cli.common import FAILED
from kafkastub.cli.groups_named import add_scope, named_partitions, selected, state_of
from kafkastub.cli.of_groups import executed

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import Client

Partition = tuple[str, int]
Plan = dict[Partition, int]

SCENARIOS = (
    "to_earliest", "to_latest", "to_current", "to_offset", "to_datetime", "by_duration", "shift_by", "from_file",
)  # fmt: skip
_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+(?:[.,]\d{0,9})?)S)?)?",
    re.IGNORECASE,
)
_NO_ACTION = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are "
    "scripting this command and want to keep the current default behavior without prompting."
)


def add_to(actions: Commands) -> None:
    """Add the action to the parser."""
    text = "reset the offsets of groups without members; changes nothing without --execute"
    parser = add_client_action(actions, "reset-offsets", text, _reset)
    add_scope(parser, "consumer")
    topics = parser.add_mutually_exclusive_group()
    topics.add_argument(
        "--topic",
        action="append",
        metavar="TOPIC[:0,1]",
        help="topic, or some of its partitions; may be given several times",
    )
    topics.add_argument("--all-topics", action="store_true", help="all topics that the group has offsets of")
    add_scenarios(parser)


def add_scenarios(parser: argparse.ArgumentParser) -> None:
    """The options that say where offsets are to go, and whether that is done."""
    where = parser.add_mutually_exclusive_group(required=True)
    add_ends(where)
    where.add_argument(
        "--to-current", action="store_true", help="keep the present offset, or the end of the log if there is none"
    )
    where.add_argument("--to-offset", type=_long, metavar="OFFSET", help="reset to this offset")
    add_date_time(where)
    where.add_argument(
        "--by-duration",
        type=_duration,
        metavar="PnDTnHnMnS",
        help="reset to the first record since that long ago",
    )
    where.add_argument(
        "--shift-by", type=_long, metavar="N", help="move the offset forward by N, or back if N is negative"
    )
    where.add_argument("--from-file", metavar="FILE", help="reset to the offsets in a CSV file that --export wrote")
    add_execute(parser)
    parser.add_argument(
        "--export",
        action="store_true",
        help="print CSV: topic,partition,offset; with several groups, the group comes first",
    )


def add_ends(where: argparse._ActionsContainer) -> None:
    """--to-earliest, --to-latest."""
    where.add_argument("--to-earliest", action="store_true", help="reset to the start of the log")
    where.add_argument("--to-latest", action="store_true", help="reset to the end of the log")


def add_date_time(where: argparse._ActionsContainer) -> None:
    """--to-datetime."""
    text = "reset to the first record at or after TIME: 2026-01-31T13:00:00.000"
    where.add_argument("--to-datetime", type=log_places.date_time, metavar="TIME", help=text)


def add_execute(parser: argparse.ArgumentParser) -> None:
    """--dry-run, --execute."""
    act = parser.add_mutually_exclusive_group()
    act.add_argument("--dry-run", action="store_true", help="show the new offsets without setting them (the default)")
    act.add_argument("--execute", action="store_true", help="set the new offsets")


def _reset(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import groups

    if not (arguments.topic or arguments.all_topics or arguments.from_file):
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not (arguments.dry_run or arguments.execute):
        output.warn(_NO_ACTION)
    ids = kafka_order.names(selected(arguments, client, groups.list_groups))
    return reset_groups(arguments, client, "consumer", output.progress(ids, "resetting"), groups.describe, Planner)


def reset_groups(
    arguments: argparse.Namespace,
    client: Client,
    kind: str,
    group_ids: Iterable[str],
    describe: Callable[[Client, str], Any],
    planner: type[Planner],
    widths: Sequence[int] = (),
) -> int:
    """Reset groups without members one by one, and show the plans; gives the exit status. Raises UsageError."""
    from kafkastub.client import BrokerError

    plans: dict[str, Plan] = {}
    failed = False
    try:
        for group_id in group_ids:
            state = state_of(describe, client, group_id)
            if state in ("Empty", "Dead"):
                one = planner(arguments, client, group_id)
                plans[group_id] = one.reset()
                failed |= not one.clean_up()
            else:
                output.error(
                    f"Assignments can only be reset if the group '{group_id}' is inactive, "
                    f"but the current state is {state}."
                )
                plans[group_id], failed = {}, True
    except BrokerError as error:
        return executed(kind, error.message)
    show(arguments, {group_id: plans[group_id] for group_id in kafka_order.names(plans)}, widths)
    return FAILED if failed else 0


class Planner:
    """The new offsets of one group. What it knows of logs it asks for when it is first needed."""

    def __init__(self, arguments: argparse.Namespace, client: Client, group_id: str) -> None:
        self.arguments = arguments
        self.client = client
        self.group_id = group_id

    def reset(self) -> Plan:
        """Work out the new offsets, and commit them where that is wanted. Raises BrokerError, UsageError."""
        from kafkastub.client import groups

        plan = self.plan()
        plan = {partition: plan[partition] for partition in kafka_order.partitions(plan)}
        if self.arguments.execute:
            groups.commit(self.client, self.group_id, plan)
        return plan

    def clean_up(self) -> bool:
        """Do what belongs to a reset beside its offsets; gives whether nothing went wrong."""
        return True

    def plan(self) -> Plan:
        arguments = self.arguments
        partitions = self.scope()
        log_places.check(self.client, partitions)
        if arguments.to_offset is not None:
            return self._within(dict.fromkeys(partitions, arguments.to_offset))
        if arguments.to_earliest:
            return log_places.at(self.client, partitions, -2)
        if arguments.to_latest:
            return log_places.at(self.client, partitions, -1)
        if arguments.shift_by is not None:
            return self._within(self._shifted(partitions))
        if arguments.to_datetime is not None:
            return log_places.since(self.client, partitions, arguments.to_datetime)
        if arguments.by_duration is not None:
            return log_places.since(self.client, partitions, int(time.time() * 1000) - arguments.by_duration)
        if arguments.from_file:
            return self._from_file()
        committed = self.committed()
        return committed | log_places.at(self.client, [one for one in partitions if one not in committed], -1)

    def scope(self) -> list[Partition]:
        """The partitions that the options name."""
        if self.arguments.all_topics:
            return list(self.committed(of_all=True))
        self._wanted = dict.fromkeys(named_partitions(self.client, self.arguments.topic or []))
        return list(self._wanted)

    def committed(self, of_all: bool = False) -> Plan:
        from kafkastub.client import groups

        found = groups.offsets(self.client, self.group_id)
        return {one: told.offset for one, told in found.items() if of_all or self._is_wanted(one)}

    def _is_wanted(self, partition: Partition) -> bool:
        return bool(self.arguments.all_topics) or partition in self._wanted

    def _within(self, wanted: Plan) -> Plan:
        """Offsets moved to the ends of their logs where they lie outside."""
        first, last = log_places.at(self.client, list(wanted), -2), log_places.at(self.client, list(wanted), -1)
        return {one: max(first[one], min(offset, last[one])) for one, offset in wanted.items()}

    def _shifted(self, partitions: list[Partition]) -> Plan:
        committed = self.committed()
        for name, index in partitions:
            if (name, index) not in committed:
                reason = f"Cannot shift offset for partition {name}-{index} since there is no current committed offset"
                raise UsageError(reason)
        return {one: committed[one] + self.arguments.shift_by for one in partitions}

    def _from_file(self) -> Plan:
        arguments = self.arguments
        only = arguments.group[0] if arguments.group and len(arguments.group) == 1 else None
        plans = _plans_in(Path(arguments.from_file), only)
        if self.group_id not in plans:
            output.error(f"No reset plan for group {self.group_id} found")
            return {}
        return self._within(plans[self.group_id])


def _plans_in(path: Path, only: str | None) -> dict[str, Plan]:
    """Group to its new offsets. With one group asked for, lines may lack the group. Raises UsageError."""
    try:
        lines = list(csv.reader(io.StringIO(path.read_text())))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read {path}: {reason}") from None
    plans: dict[str, Plan] = {}
    for number, cells in enumerate(lines, 1):
        if not cells:
            continue
        group_id, *rest = cells if only is None or len(cells) == 4 else [only, *cells]
        try:
            name, index, offset = rest
            plans.setdefault(group_id, {})[name, int(index)] = int(offset)
        except ValueError:
            wanted = "topic,partition,offset" if only else "group,topic,partition,offset"
            raise UsageError(f"{path}, line {number}: {','.join(cells)!r} is not {wanted}") from None
    return plans


def show(arguments: argparse.Namespace, plans: Mapping[str, Plan], widths: Sequence[int] = ()) -> None:
    """The plan of each group: a table, of these widths where some are given, JSON or CSV."""
    rows = [(group_id, *one, offset) for group_id, plan in plans.items() for one, offset in plan.items()]
    if arguments.output == "json":
        names = ("group", "topic", "partition", "new_offset")
        output.as_json([dict(zip(names, row, strict=True)) for row in rows])
    elif arguments.export:
        text = io.StringIO()
        several = arguments.all_groups or len(arguments.group) > 1
        csv.writer(text, lineterminator="\n").writerows(row if several else row[1:] for row in rows)
        output.block(text.getvalue())
    else:
        widths = widths or [output.width(15, plans), output.width(15, (row[1] for row in rows)), 10, 0]
        names = ("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET")
        output.table(dict(zip(names, widths, strict=True)), rows, above=True)


def _long(text: str) -> int:
    """A 64 bit number, as an argument."""
    if not re.fullmatch(r"[-+]?\d{1,19}", text, re.ASCII) or not -(1 << 63) <= int(text) < 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 64 bits")
    return int(text)


def _duration(text: str) -> int:
    """Milliseconds of an ISO duration with days at most (Java: Duration.parse)."""
    match = _DURATION.fullmatch(text)
    parts: dict[str, Any] = match.groupdict() if match else {}
    given = [name for name in ("days", "hours", "minutes", "seconds") if parts.get(name)]
    if not given or (parts["time"] and len(parts["time"]) == 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as P7D, PT1H30M or P1DT0.5S")
    try:
        length = timedelta(**{name: float(parts[name].replace(",", ".")) for name in given})
    except OverflowError:
        raise argparse.ArgumentTypeError(f"{text!r} is too long") from None
    return int(length / timedelta(milliseconds=1)) * (-1 if parts["sign"] == "-" else 1)
