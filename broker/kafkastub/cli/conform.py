"""`kafkastub conform`: whether a broker, any at all, answers as Kafka does."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.cli import conform_against, output
from kafkastub.cli.broker import ADDRESS_VARIABLE, DEFAULT_ADDRESS, INTERRUPTED, ended_as_by_ctrl_c, positive
from kafkastub.cli.common import FAILED, add_token_option, printing, refuse
from kafkastub.cli.output import Bar, the_first

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub_conformance.model import Clock, Outcome


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "conform",
        help="run the conformance suite, or compare two brokers",
        description="Run the conformance suite against a broker. The suite removes everything that it creates, and "
        "touches nothing else. Exit status: 0 all cases passed, 1 a case failed, 2 nothing could be run.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=printing(_run))
    parser.add_argument(
        "--bootstrap-servers",
        "--bootstrap-server",
        metavar="HOST:PORT",
        default=os.environ.get(ADDRESS_VARIABLE, DEFAULT_ADDRESS),
        help=f"broker under test (default ${ADDRESS_VARIABLE}, else {DEFAULT_ADDRESS})",
    )
    parser.add_argument(
        "--profile",
        choices=["auto", "kafka", "kips"],
        default="auto",
        help="expected behaviour: released Kafka, or the KIPs (default: auto, that of the broker)",
    )
    parser.add_argument(
        "-k", metavar="EXPR", default="", help="run only cases whose id matches: words with and, or, not, ()"
    )
    parser.add_argument("--slow", action="store_true", help="also run the cases that wait in real time")
    parser.add_argument(
        "--control",
        metavar="URL",
        help="control port of the stub: also run the cases that move its clock forward by weeks, which expires "
        "other data of the stub",
    )
    add_token_option(parser, "token of the control port, if it needs one")
    parser.add_argument(
        "--release",
        metavar="X.Y",
        default="",
        help="Apache Kafka release to compare the broker with (default: the one whose API versions it has)",
    )
    parser.add_argument("--list", action="store_true", help="list the cases and run nothing")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report: .html, .json or .xml (JUnit); may be given several times",
    )
    parser.add_argument(
        "--timeout",
        metavar="MS",
        type=positive,
        default=10000,
        help="milliseconds to wait for an answer (default %(default)s)",
    )
    conform_against.add_options(parser)


def _run(arguments: argparse.Namespace) -> int:
    from kafkastub_conformance import reports

    paths = [Path(name) for name in arguments.report]
    for path in paths:
        if path.suffix not in reports.FORMS:
            return refuse(f"--report {path}: expected a file name that ends with {', '.join(reports.FORMS)}")
        if not path.parent.is_dir():
            return refuse(f"--report {path}: there is no folder {path.parent}")
    try:
        if arguments.against or arguments.scenario:
            with ended_as_by_ctrl_c():
                return conform_against.run(arguments, paths)
        conform_against.refuse_without_another_broker(arguments)
        if arguments.list:
            return _list(arguments)
        with ended_as_by_ctrl_c():
            return _conform(arguments, paths)
    except ValueError as error:
        return refuse(str(error))
    except KeyboardInterrupt:  # before the first case; later ones end with a summary
        output.say("interrupted")
        return INTERRUPTED


def _list(arguments: argparse.Namespace) -> int:
    from kafkastub_conformance.registry import plan

    runs = plan(None, arguments.profile, slow=arguments.slow, clock=bool(arguments.control), chosen=arguments.k)
    versions: dict[str, list[int]] = {}
    cases = {run.case.id: run.case for run in runs}
    for run in runs:
        versions.setdefault(run.case.id, []).append(run.version)
    width = max(map(len, cases), default=0)
    for name, case in cases.items():
        first, last = min(versions[name]), max(versions[name])
        between = f"v{first}" if first == last else f"v{first}-{last}"
        alone = "" if case.profile == "both" else f"; profile {case.profile} alone"
        output.say(f"{name:<{width}}  {between:<7} {case.shows} ({case.source}{alone})")
    output.say(f"{len(cases)} cases, {len(runs)} runs on a broker that has every version")
    return 0


def _conform(arguments: argparse.Namespace, paths: list[Path]) -> int:
    from kafkastub.client import ClientError
    from kafkastub_conformance import reports
    from kafkastub_conformance.cluster import NotReady
    from kafkastub_conformance.model import Skipped
    from kafkastub_conformance.reports import text
    from kafkastub_conformance.running import conform

    with Bar(lambda result: result.run.case.api) as bar:
        try:
            outcome = conform(
                arguments.bootstrap_servers,
                arguments.profile,
                chosen=arguments.k,
                slow=arguments.slow,
                timeout=arguments.timeout / 1000,
                progress=bar.progress,
                release=arguments.release,
                clock=_clock(arguments),
                note=_tell,
            )
        except (ClientError, NotReady, Skipped) as error:
            return refuse(str(error))
    for path in paths:
        try:
            reports.write(path, outcome)
        except OSError as error:
            return refuse(f"--report {path} cannot be written: {error.strerror}")
    for results in the_first(text.entries(outcome.bad)):
        for line in text.entry(results):
            output.say(line)
    if outcome.left:
        output.say(f"left behind, as the broker did not remove them: {', '.join(outcome.left)}")
    if outcome.results:
        for line in text.every_api(outcome, named=not arguments.k):
            output.say(line)
    output.block(text.summary(outcome))
    return _status(outcome)


def _tell(text: str) -> None:
    output.note(f"note: {text}")


def _clock(arguments: argparse.Namespace) -> Clock | None:
    """The clock behind --control. Raises ValueError, NotReady."""
    if not arguments.control:
        return None
    from kafkastub.cli.conform_clock import ControlledClock
    from kafkastub.cli.control import Control

    clock = ControlledClock(Control(arguments.control, arguments.timeout / 1000, arguments.control_token))
    clock.frozen  # noqa: B018 - whether anybody answers there is told before the first case
    return clock


def _status(outcome: Outcome) -> int:
    if outcome.interrupted:
        return INTERRUPTED
    if not outcome.results:
        return refuse("there is no such case for this broker: --list tells which there are")
    return FAILED if outcome.bad else 0
