"""`kafkastub-pipeline`: run, stream, report."""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kafkastub_pipeline import extra
from kafkastub_pipeline.errors import PipelineError, sentence
from kafkastub_pipeline.printed import Lines, complain, complain_in_lines, say
from kafkastub_pipeline.rules import PROFILES
from kafkastub_pipeline.settings import STORM_GENERATIONS
from kafkastub_pipeline.values import (
    day,
    day_or_now,
    days,
    moment,
    natural,
    negatives_joined,
    packages,
    pair,
    positive,
    rate,
    retentions,
    several,
    timeouts,
)
from kafkastub_pipeline.write import FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkastub_pipeline.settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status: 0, or 2 for bad input, or 1 for what went wrong on the way."""
    options = parser().parse_args(negatives_joined(sys.argv[1:] if arguments is None else arguments))
    to_people = logging.StreamHandler(sys.stderr)
    to_people.setFormatter(Lines("%(asctime)s %(message)s"))
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # it is for who calls pandas' own parts
    logging.basicConfig(level=logging.INFO if options.verbose else logging.WARNING, handlers=[to_people])
    shown: BaseException
    try:
        return int(options.act(options))
    except PipelineError as error:
        text, status, shown = str(error), 2, error
    except KeyboardInterrupt as error:
        text, status, shown = _INTERRUPTED, 130, error
    except Exception as error:  # Spark's and Java's: one line is what a reader can use
        text, status, shown = f"the run failed: {sentence(error)}{_of_spark()}", 1, error
        if _was_interrupted(error):
            text, status = _INTERRUPTED, 130
    if options.traceback:
        complain_in_lines("".join(traceback.format_exception(shown)))
    complain(f"kafkastub-pipeline: {text}")
    return status


def _of_spark() -> str:
    """What may be the cause of a failure that nothing else explains."""
    version = extra.installed_spark()
    return "" if version is None or extra.is_known(version) else f"; pyspark {version} is installed; {extra.untested()}"


_INTERRUPTED: Final = "interrupted: the tables that exist are complete, the others were not made"


def _was_interrupted(error: BaseException) -> bool:
    """Whether this came of Ctrl-C: PySpark tidies up behind a job, over a connection that is gone by then."""
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, KeyboardInterrupt):
            return True
        behind = behind.__cause__ or behind.__context__
    return False


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    top = argparse.ArgumentParser(
        prog="kafkastub-pipeline",
        description="Report which committed offsets expire when, which are stale, and how far groups are behind.",
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands.add_parser("run", help="read __consumer_offsets and write tables"))
    _add_stream(
        commands.add_parser("stream", help="decode records as they arrive; `run --records` makes tables from them")
    )
    _add_report(commands.add_parser("report", help="write one HTML page from the tables of a run"))
    return top


def _add_common(command: argparse.ArgumentParser, kafka: bool = True) -> None:
    if kafka:
        command.add_argument(
            "--bootstrap-servers", metavar="HOST:PORT[,…]", help="bootstrap servers of the cluster, separated by commas"
        )
        command.add_argument(
            "--client-config",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            type=pair,
            help="property of a Kafka client, such as security.protocol=SSL; overrides --command-config",
        )
        command.add_argument(
            "--command-config", metavar="FILE", help="properties file of a Kafka client, for SASL and TLS"
        )
    command.add_argument("--master", help="Spark master of a new session (default local[*])")
    command.add_argument(
        "--packages",
        type=packages,
        help="Maven coordinates for a new session: Delta, Iceberg, or another version of the Kafka source",
    )
    command.add_argument(
        "--wait-for-workers",
        metavar="SECONDS",
        type=positive,
        default=120,
        help="seconds to wait for the first worker of a Spark cluster (default 120)",
    )
    command.add_argument("--conf", metavar="KEY=VALUE", action="append", default=[], type=pair, help="a Spark setting")
    command.add_argument("--verbose", action="store_true", help="print each step, and Spark's log")
    command.add_argument("--traceback", action="store_true", help="print where an error came from")


def _add_run(command: argparse.ArgumentParser) -> None:
    _add_common(command)
    command.add_argument("--raw", metavar="DIR", help="saved raw records in Parquet, read instead of the broker's")
    command.add_argument("--records", metavar="DIR", help="records that `stream` has decoded")
    _add_rules(command, required=True)
    command.add_argument(
        "--now",
        metavar="log|ISO-8601",
        type=moment,
        default="log",
        help="the moment that the tables describe; later records are ignored",
    )
    command.add_argument(
        "--journal", metavar="DIR", help="the stub's journal: Parquet, or the directory of `kafkastub serve --journal`"
    )
    command.add_argument(
        "--check-interval-ms", metavar="MS", type=positive, default=600_000, help="offsets.retention.check.interval.ms"
    )
    command.add_argument(
        "--probes",
        metavar="N",
        type=natural,
        default=1000,
        help="number of partitions whose first unread record is read, for lag in seconds, and of groups that are "
        "asked about open transactions (default 1000; 0 for none)",
    )
    command.add_argument(
        "--stale-after",
        metavar="DAYS",
        type=days,
        default=7.0,
        help="days without use after which offsets of groups without members are stale (default 7; 0 includes all)",
    )
    _add_thresholds(command)
    _add_tried(command)
    _add_output(command)
    command.set_defaults(act=_run)


def _add_rules(command: argparse.ArgumentParser, required: bool) -> None:
    """When offsets expire."""
    command.add_argument(
        "--retention-minutes",
        metavar="R[,R…]",
        type=retentions,
        required=required,
        help="values of offsets.retention.minutes to try; the first is that of the forecast, -1 means for ever",
    )
    command.add_argument(
        "--profile",
        choices=PROFILES,
        default="kips",
        help="rules of expiry: as the KIPs say, or as Kafka 4.x (default kips; give kafka for a real cluster)",
    )


def _add_thresholds(command: argparse.ArgumentParser) -> None:
    """From when on it is a finding."""
    command.add_argument(
        "--storm-generations",
        metavar="N",
        type=several,
        default=STORM_GENERATIONS,
        help=f"generations of a group within ten minutes that are a finding (default {STORM_GENERATIONS})",
    )
    command.add_argument(
        "--commit-rate",
        metavar="C",
        type=rate,
        default=100.0,
        help="offsets per second, over a minute, above which a group's commits are a finding (default 100)",
    )


def _add_tried(command: argparse.ArgumentParser) -> None:
    """What else is tried on the history: each makes a table."""
    command.add_argument(
        "--session-timeout-ms",
        metavar="S[,S…]",
        type=timeouts,
        default=(),
        help="session timeouts to try: makes session_whatif, the members that they would have removed (needs "
        "--journal)",
    )
    command.add_argument(
        "--record-lock-duration-ms",
        metavar="L[,L…]",
        type=timeouts,
        default=(),
        help="values of group.share.record.lock.duration.ms to try: makes lock_whatif, the deliveries that they "
        "would have cut short",
    )
    command.add_argument(
        "--transaction-timeout-ms",
        metavar="T[,T…]",
        type=timeouts,
        default=(),
        help="values of transaction.timeout.ms to try: makes transaction_whatif, the transactions that they would "
        "have aborted",
    )


def _add_output(command: argparse.ArgumentParser) -> None:
    """Of `run`: which tables, and where they go."""
    command.add_argument("--out", metavar="DIR", required=True, help="directory of the tables")
    command.add_argument(
        "--tables",
        metavar="NAME[,NAME…]",
        help="make only these tables; `present` stands for offset_current, expiry_forecast, lag and stale_offsets "
        "(default: all)",
    )
    command.add_argument(
        "--format", choices=FORMATS, default="parquet", help="format of the tables (default %(default)s)"
    )
    command.add_argument(
        "--append-day",
        metavar="YYYY-MM-DD",
        type=day_or_now,
        nargs="?",
        const="now",
        help="keep tables by day: add this day to each table, or replace it (default: the day of --now, in UTC)",
    )
    command.add_argument(
        "--keep-records", action="store_true", help="keep all decoded records in DIR/decoded_records, for --records"
    )


def _add_stream(command: argparse.ArgumentParser) -> None:
    _add_common(command)
    command.add_argument("--checkpoint", metavar="DIR", required=True, help="directory for the position of the stream")
    command.add_argument("--out", metavar="DIR", required=True, help="directory for the decoded records")
    command.add_argument("--available-now", action="store_true", help="end when all existing records are decoded")
    command.add_argument(
        "--tables",
        metavar="DIR",
        help="keep tables about the present up to date in DIR: offset_current, lag and others",
    )
    command.add_argument(
        "--alerts",
        metavar="DIR|topic:NAME",
        help="write a row when an offset expires within a day, a transaction hangs, a partition has no owner or a "
        "group rebalances all the time, and a row when it is over; needs --tables",
    )
    _add_rules(command, required=False)
    command.set_defaults(act=_stream)


def _add_report(command: argparse.ArgumentParser) -> None:
    _add_common(command, kafka=False)
    command.add_argument(
        "--tables", "--in", dest="tables", metavar="DIR", help="directory of the tables that `run` wrote"
    )
    command.add_argument("--out", metavar="FILE|DIR", required=True, help="file of the page, or a directory for it")
    command.add_argument(
        "--day", metavar="YYYY-MM-DD", type=day, help="day of the tables, if they are kept by day (default: the newest)"
    )
    command.set_defaults(act=_report)


def _run(options: argparse.Namespace) -> int:
    extra.check(*extra.TABLES, *(() if options.bootstrap_servers is None else extra.CLUSTER))
    from kafkastub_pipeline.files import check_no_pattern
    from kafkastub_pipeline.progress import terminal
    from kafkastub_pipeline.run import Settings, run
    from kafkastub_pipeline.tables.wanted import check_tables

    settings = Settings(
        out=options.out,
        bootstrap_servers=options.bootstrap_servers,
        raw=options.raw,
        records=options.records,
        retention_minutes=options.retention_minutes,
        now=options.now,
        journal=options.journal,
        profile=options.profile,
        check_interval_ms=options.check_interval_ms,
        format=options.format,
        options=_client_options(options),
        probes=options.probes,
        keep_records=options.keep_records,
        stale_after_minutes=round(options.stale_after * 24 * 60),
        storm_generations=options.storm_generations,
        commit_rate=options.commit_rate,
        lock_durations_ms=options.record_lock_duration_ms,
        session_timeouts_ms=options.session_timeout_ms,
        transaction_timeouts_ms=options.transaction_timeout_ms,
        terminal=terminal(),
        append_day=options.append_day,
        tables=options.tables,
    )
    check_tables(settings)
    check_no_pattern("--out", options.out)
    if settings.reads_the_log and settings.bootstrap_servers is None:
        raise PipelineError("there is nothing to read: give --bootstrap-servers, --raw or --records")
    before = None
    if settings.bootstrap_servers is not None:
        from kafkastub_pipeline.small_log import held

        # before a slow start: can it be reached at all, and has Spark to read it?
        shares = settings.reads_shares
        before = held(
            settings.bootstrap_servers, settings.options, settings.reads_the_log, shares, settings.reads_transactions
        )
    small = before is not None and before.log is not None
    spark = _session(options, kafka=before is not None and before.needs_kafka, small=small)
    _check_workers(spark, options, ("--raw", "--records", "--out", "--journal"))
    written = run(spark, settings, before)
    say(f"{len(written)} table{'s' * (len(written) != 1)} in {options.out}: {', '.join(written)}")
    return 0


def _stream(options: argparse.Namespace) -> int:
    extra.check(*extra.TABLES, *extra.CLUSTER)
    from kafkastub_pipeline.cluster import reached
    from kafkastub_pipeline.files import check_no_pattern
    from kafkastub_pipeline.stream import stream

    check_no_pattern("--out", options.out)
    if options.bootstrap_servers is None:
        raise PipelineError("there is nothing to read: give --bootstrap-servers")
    client = _client_options(options)
    tables = _live(options, client)
    reached(options.bootstrap_servers, client)
    spark = _session(options, kafka=True)
    _check_workers(spark, options, ("--out", "--checkpoint", "--tables"))
    stream(
        spark,
        options.bootstrap_servers,
        out=options.out,
        checkpoint=options.checkpoint,
        available_now=options.available_now,
        options=client,
        tables=tables,
        alerts=options.alerts,
    )
    return 0


def _live(options: argparse.Namespace, client: list[tuple[str, str]]) -> Settings | None:
    """The tables that a stream keeps up to date; None where none are wanted. Raises PipelineError."""
    from kafkastub_pipeline.files import check_no_pattern
    from kafkastub_pipeline.settings import Settings

    if options.tables is None:
        if options.alerts is not None:
            raise PipelineError("--alerts needs the tables of --tables DIR: give that option, too")
        return None
    if options.retention_minutes is None:
        raise PipelineError(
            "--tables needs --retention-minutes, to know when offsets expire: give it (10080 is Kafka's default)"
        )
    check_no_pattern("--tables", options.tables)
    return Settings(
        out=options.tables,
        bootstrap_servers=options.bootstrap_servers,
        retention_minutes=options.retention_minutes,
        profile=options.profile,
        options=client,
    )


def _report(options: argparse.Namespace) -> int:
    extra.check(*extra.PAGE)
    from kafkastub_pipeline.report import write_report

    spark = _session(options, kafka=False)
    _check_workers(spark, options, ("--tables",))
    say(write_report(spark, options.tables, options.out, options.day))
    return 0


def _session(options: argparse.Namespace, kafka: bool, small: bool = False) -> SparkSession:
    from kafkastub_pipeline.session import spark_session
    from kafkastub_pipeline.workers import check_master

    check_master(dict(options.conf).get("spark.master", options.master))
    quiet = not (options.verbose or options.traceback)
    return spark_session(options.master, options.packages, options.conf, kafka=kafka, quiet=quiet, small=small)


def _check_workers(spark: SparkSession, options: argparse.Namespace, shared: Sequence[str]) -> None:
    """Of a cluster: whether it has workers, and these what it takes; they have to see the paths of these options."""
    from kafkastub_pipeline.files import Files
    from kafkastub_pipeline.workers import check_workers, is_local

    if is_local(spark):
        return
    files, local = Files(spark), []
    for option in shared:
        path = vars(options)[option[2:]]
        with suppress(Exception):  # a file system that nobody knows is told of where it is needed
            if path is not None and (found := files.local(path)) is not None:
                local.append((option, found))
    check_workers(spark, local, options.wait_for_workers)


def _client_options(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Of the file and of the command; what cannot be had is refused before anything is begun."""
    from kafkastub_pipeline.clients import for_java, for_librdkafka, read_properties

    of_file = [] if options.command_config is None else read_properties(options.command_config)
    found = list(dict([*of_file, *options.client_config]).items())
    for_java(found)
    for_librdkafka(found)
    return found
