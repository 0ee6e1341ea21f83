"""`kafkastub snapshot take --from HOST:PORT FILE`: the state of a real cluster, for a stub to start from."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kafkastub.cli import output
from kafkastub.cli.broker import INTERRUPTED, ended_as_by_ctrl_c
from kafkastub.cli.common import FAILED, printing, refuse

if TYPE_CHECKING:
    from kafkastub.cluster_snapshots.taking import Taken

Run = Callable[[argparse.Namespace], int]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of a cluster; with --from they are what `take` does."""
    of_cluster = parser.add_argument_group("a real cluster (docs/incident.md)")
    of_cluster.add_argument(
        "--from",
        dest="source",
        metavar="HOST:PORT,…",
        help="take a snapshot of the cluster with these bootstrap servers; it is only read",
    )
    of_cluster.add_argument(
        "--from-raw",
        metavar="DIR",
        help="take it of saved records of __consumer_offsets instead, which the pipeline reads with --raw",
    )
    of_cluster.add_argument(
        "--records",
        nargs="+",
        action="extend",
        default=[],
        metavar="TOPIC=all|N|none",
        help="take all records of a topic, or the newest N of each partition; * for all other topics (default none, "
        "with the offsets of the cluster; all of _schemas)",
    )
    of_cluster.add_argument(
        "--redact",
        nargs="?",
        const="values",
        choices=["values", "all"],
        metavar="values|all",
        help="replace values and headers of records with asterisks; with all, replace keys with digests, too",
    )
    of_cluster.add_argument(
        "--command-config", metavar="FILE", help="properties file of a Kafka client, for TLS and SASL"
    )
    of_cluster.add_argument(
        "--reach",
        action="append",
        default=[],
        metavar="HOST:PORT=HOST:PORT",
        help="reach the node that advertises the first address at the second; may be given several times",
    )
    of_stub: Run = parser.get_default("run")

    def run(arguments: argparse.Namespace) -> int:
        if arguments.source is not None and arguments.from_raw is not None:
            return refuse("--from together with --from-raw is refused: a snapshot is of one of them")
        if arguments.source is not None:
            return of_cluster_run(arguments)
        for name in ("records", "redact", "command_config", "reach"):
            if getattr(arguments, name):
                return refuse(f"--{name.replace('_', '-')} without --from is refused: it is about a real cluster")
        return of_stub(arguments) if arguments.from_raw is None else of_raw_run(arguments)

    parser.set_defaults(run=run)


def _take(arguments: argparse.Namespace) -> int:
    from kafkastub.cluster_snapshots.of_cluster import of_cluster

    return _written(
        arguments,
        "--from",
        lambda: of_cluster(
            arguments.source,
            arguments.id,
            records=dict(_pair("--records", one) for one in arguments.records),
            redact=arguments.redact,
            command_config=arguments.command_config,
            reach=dict(_pair("--reach", one) for one in arguments.reach),
            timeout=arguments.timeout,
            progress=_progress,
        ),
    )


def _of_raw(arguments: argparse.Namespace) -> int:
    from kafkastub.cluster_snapshots.of_raw import of_raw

    return _written(arguments, "--from-raw", lambda: of_raw(arguments.from_raw, arguments.id))


def _written(arguments: argparse.Namespace, option: str, write: Callable[[], Taken]) -> int:
    """Write the file, and print what is in it and what is not."""
    from kafkastub.client import ClientError
    from kafkastub.state.snapshots.saved import SnapshotError

    if arguments.id is None:
        return refuse(f"{option} without a FILE is refused: name the file that the snapshot is written to")
    try:
        with ended_as_by_ctrl_c():
            taken = write()
    except (ClientError, SnapshotError, ImportError) as error:
        refuse(str(error))
        return FAILED
    except ValueError as error:
        return refuse(str(error))
    except OSError as error:
        return refuse(f"cannot write {arguments.id}: {error.strerror}")
    except KeyboardInterrupt:
        return INTERRUPTED
    for what, why in taken.missing[: output.MOST_SHOWN]:
        output.warn(f"not in the snapshot: {what}: {why}")
    if len(taken.missing) > output.MOST_SHOWN:
        output.warn(f"and {len(taken.missing) - output.MOST_SHOWN} more; -o json has all of them")
    said = {
        "file": arguments.id,
        "cluster_id": taken.cluster_id,
        "topics": taken.topics,
        "partitions": taken.partitions,
        "missing": [{"what": what, "why": why} for what, why in taken.missing],
    }
    text = f"Written to {arguments.id}: {taken.topics} topics with {taken.partitions} partitions"
    lacks = f", without {len(taken.missing)} things that could not be read" if taken.missing else ""
    return output.print_result(arguments.output, said, f"{text}{lacks}.")


of_cluster_run: Final[Run] = printing(_take)
of_raw_run: Final[Run] = printing(_of_raw)


def _progress(what: str) -> None:
    if sys.stderr.isatty():
        output.note(f"reading {what}")


def _pair(option: str, text: str) -> tuple[str, str]:
    """Raises ValueError."""
    name, equals, value = text.rpartition("=") if option == "--records" else text.partition("=")
    if not equals or not name:
        wanted = "TOPIC=all, TOPIC=none or TOPIC=N" if option == "--records" else "HOST:PORT=HOST:PORT"
        raise ValueError(f"{option} {text!r} is refused: expected {wanted}")
    return name, value
