"""`kafkastub conform --against`: random scenarios on two brokers, and where their answers differ."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from kafkastub.cli import output
from kafkastub.cli.broker import INTERRUPTED, positive
from kafkastub.cli.common import FAILED, refuse
from kafkastub.cli.output import Bar, the_first

if TYPE_CHECKING:
    from kafkastub_conformance.differential.running import Comparison, Progress
    from kafkastub_conformance.differential.scenario import Scenario

KINDS = {
    "groups": ["groups"],
    "consumer": ["consumer"],
    "share": ["share"],
    "streams": ["streams"],
    "data": ["data"],
    "transactions": ["transactions"],
    "admin": ["admin"],
    "all": ["groups", "consumer", "share", "streams", "data", "transactions", "admin"],
}
SEED, SCENARIOS, STEPS, KIND = 1, 100, 40, "groups"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that compare two brokers in the place of running the suite."""
    group = parser.add_argument_group(
        "comparison with another broker",
        "Play random scenarios of many clients on both brokers and compare the answers. Each difference is shortened "
        "and printed as a test. Exit status: 0 no difference, 1 a difference, 2 nothing could be run.",
    )
    group.add_argument("--against", metavar="HOST:PORT", help="broker whose answers are expected")
    group.add_argument(
        "--seed", metavar="N", type=positive, default=SEED, help="seed of the first scenario (default %(default)s)"
    )
    group.add_argument(
        "--scenarios",
        metavar="N",
        type=positive,
        default=SCENARIOS,
        help="number of scenarios, with consecutive seeds (default %(default)s)",
    )
    group.add_argument(
        "--steps", metavar="N", type=positive, default=STEPS, help="steps of each scenario (default %(default)s)"
    )
    group.add_argument(
        "--kind",
        choices=list(KINDS),
        default=KIND,
        help="subject of the scenarios: consumer groups of the classic protocol (groups) or of the newer one "
        "(consumer), share groups, streams groups, topics and records (data), transactions, administration of the "
        "cluster (admin), or all of these (default %(default)s)",
    )
    group.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="FILE",
        help="replay a scenario that --save wrote; without --against, expect the answers in the file",
    )
    group.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="FIELD",
        help="do not compare this field of answers, for example error_message; may be given several times",
    )
    group.add_argument(
        "--save", metavar="FOLDER", help="write each difference to FOLDER as a scenario (.json) and as a test (.py)"
    )
    group.add_argument("--no-shrink", action="store_true", help="print differences without shortening them")


def refuse_without_another_broker(arguments: argparse.Namespace) -> None:
    """Raises ValueError for options that say nothing where one broker is measured alone."""
    for name, default in (
        ("seed", SEED), ("scenarios", SCENARIOS), ("steps", STEPS), ("kind", KIND), ("ignore", []), ("save", None),
        ("no_shrink", False),
    ):  # fmt: skip
        if getattr(arguments, name) != default:
            raise ValueError(f"--{name.replace('_', '-')} is only for comparing two brokers: add --against HOST:PORT")


def run(arguments: argparse.Namespace, paths: list[Path]) -> int:
    """Compare, tell, write the reports. Raises ValueError for what makes no sense."""
    from kafkastub.client import ClientError
    from kafkastub_conformance.cluster import NotReady
    from kafkastub_conformance.differential import report
    from kafkastub_conformance.differential.broker import Lost
    from kafkastub_conformance.differential.ignoring import ignorable
    from kafkastub_conformance.model import Skipped

    for option in ("k", "slow", "list", "control", "release"):
        if getattr(arguments, option, None):
            raise ValueError(f"{'-k' if option == 'k' else f'--{option}'} is for the suite; leave it out")
    if arguments.against == arguments.bootstrap_servers:
        raise ValueError(f"--against {arguments.against} is the broker under test; give another broker")
    ignore = ignorable(arguments.ignore) if arguments.ignore else frozenset()
    folder = Path(arguments.save) if arguments.save else None
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"--save {folder} cannot be made: {error.strerror}") from None
    loaded = [_loaded(Path(name)) for name in arguments.scenario]
    try:
        with Bar(lambda result: str(result.name)) as bar:
            done = _compared(arguments, loaded, ignore, bar.progress)
    except (ClientError, Lost, NotReady, Skipped) as error:
        return refuse(str(error))
    try:
        for path in paths:
            report.write(path, done)
        if folder is not None:
            _save(folder, done)
    except OSError as error:
        return refuse(f"{error.filename} cannot be written: {error.strerror}")
    _tell(done)
    if done.interrupted:
        return INTERRUPTED
    return FAILED if done.bad else 0


def _loaded(path: Path) -> Scenario:
    from kafkastub_conformance.differential.scenario import Scenario

    try:
        return Scenario.from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ValueError(f"--scenario {path} cannot be read: {error.strerror}") from None
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise ValueError(f"--scenario {path} is not a scenario that --save wrote") from None


def _compared(
    arguments: argparse.Namespace, loaded: list[Scenario], ignore: frozenset[str], progress: Progress | None
) -> Comparison:
    from datetime import UTC, datetime

    from kafkastub_conformance.differential.broker import in_common, visiting
    from kafkastub_conformance.differential.running import Comparison, compare, scripts
    from kafkastub_conformance.differential.shrink import SECONDS

    timeout = arguments.timeout / 1000
    left: list[str] = []
    with visiting(arguments.bootstrap_servers, "the broker under test", timeout, left) as tested:
        tested.ignore = ignore
        done = Comparison(tested.name, "the recording", datetime.now(UTC).isoformat(timespec="seconds"), left=left)
        shrinking = 0.0 if arguments.no_shrink else SECONDS
        if arguments.against is None:
            compare(loaded, tested, None, timeout=timeout, progress=progress, into=done)
        else:
            with visiting(arguments.against, "the broker that knows", timeout, left) as reference:
                reference.ignore = ignore
                done.reference, done.one_sided = reference.name, in_common(tested, reference)
                if arguments.kind != "groups" and max(tested.nodes, reference.nodes) > 1:
                    raise ValueError(f"--kind {arguments.kind} compares clusters of one node; --kind groups any")
                seeds = range(arguments.seed, arguments.seed + arguments.scenarios)
                todo = loaded or scripts(KINDS[arguments.kind], seeds, arguments.steps)
                if not loaded:
                    done.command = (
                        f"kafkastub conform --bootstrap-servers {arguments.bootstrap_servers} "
                        f"--against {arguments.against} --steps {arguments.steps}"
                        + "".join(f" --ignore {field}" for field in arguments.ignore)
                    )
                compare(todo, tested, reference, timeout=timeout, shrinking=shrinking, progress=progress, into=done)
    return done


def _save(folder: Path, done: Comparison) -> None:
    from kafkastub_conformance.differential.testcase import file_name, python_test, scenario_of

    for result in done.results:
        if result.difference is not None and not result.like:
            name = file_name(result.difference)
            scenario_of(result.difference).save(folder / f"{name}.json")
            source = python_test(result.difference, done.tested, done.reference, done.replay_command(result))
            (folder / f"test_{name}.py").write_text(source, encoding="utf-8")


def _tell(done: Comparison) -> None:
    from kafkastub_conformance.differential.report import text
    from kafkastub_conformance.differential.testcase import python_test

    for results in the_first(text.entries(done.results)):
        result = results[0]
        for line in text.entry(results):
            output.say(line)
        if result.difference is not None and not result.like:
            output.block("as a test:\n")
            output.block(python_test(result.difference, done.tested, done.reference, done.replay_command(result)))
    if done.left:
        output.say(f"left behind, as a broker did not remove them: {', '.join(done.left)}")
    output.block(text.summary(done))
