"""`kafkastub transactions`: transactions of any broker, as kafka-transactions.sh shows and ends them.

Columns and sentences are those of Apache Kafka 4.3.1 (`TransactionsCommand`). Differences: no sentence about Java's
debug logging, a partition or a broker that does not exist is told at once and not after a minute, `list` filters by
state and producer id as well, and what is called `forceTerminateTransaction` there is `force-terminate`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from kafkastub.cli import output
from kafkastub.cli.broker import add_client_action, positive
from kafkastub.cli.common import FAILED

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands
    from kafkastub.client import BrokerError, Client

STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Dead",
)  # fmt: skip
_DEFAULT_MINUTES: Final = 15
_MINUTE_MS: Final = 60_000
_NONE: Final = "None"


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    transactions = commands.add_parser(
        "transactions", help="list and describe transactions of any broker, and end hanging ones"
    )
    actions = transactions.add_subparsers(required=True, metavar="ACTION")
    parser = add_client_action(actions, "list", "list transactional ids and their states", _list)
    parser.add_argument(
        "--duration-filter",
        type=int,
        metavar="MS",
        help="only transactions that have been open for more than MS milliseconds",
    )
    parser.add_argument(
        "--transactional-id-pattern", metavar="REGEX", help="only ids that match the expression (RE2 syntax, KIP-1152)"
    )
    parser.add_argument(
        "--state",
        action="append",
        choices=STATES,
        metavar="STATE",
        help="only transactions in this state; may be given several times",
    )
    parser.add_argument(
        "--producer-id",
        action="append",
        type=int,
        metavar="N",
        help="only transactions of this producer; may be given several times",
    )
    parser = add_client_action(actions, "describe", "show the transaction of a transactional id", _describe)
    _add_transactional_id(parser)
    parser = add_client_action(actions, "describe-producers", "show the producers of a partition", _describe_producers)
    _add_partition(parser, required=True)
    parser.add_argument("--broker-id", type=int, metavar="ID", help="ask this broker instead of the leader")
    _add_abort(actions)
    parser = add_client_action(actions, "find-hanging", "find transactions that no coordinator will end", _find_hanging)
    _add_partition(parser, required=False)
    parser.add_argument("--broker-id", type=int, metavar="ID", help="only partitions with a replica on this broker")
    parser.add_argument(
        "--max-transaction-timeout",
        type=_minutes,
        default=_DEFAULT_MINUTES,
        metavar="MINUTES",
        help="only transactions that have been open for more than MINUTES minutes (default %(default)s)",
    )
    parser = add_client_action(
        actions, "force-terminate", "end the transaction of an id and fence its producer", _terminate
    )
    _add_transactional_id(parser)


def _add_transactional_id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--transactional-id", required=True, metavar="ID", help="transactional id")


def _add_partition(parser: argparse.ArgumentParser, required: bool) -> None:
    parser.add_argument("--topic", required=required, metavar="TOPIC", help="topic name")
    parser.add_argument("--partition", required=required, type=_index, metavar="N", help="partition of the topic")


def _add_abort(actions: Commands) -> None:
    parser = add_client_action(actions, "abort", "end a hanging transaction in one partition", _abort)
    _add_partition(parser, required=True)
    parser.add_argument("--start-offset", type=int, metavar="OFFSET", help="offset at which the transaction begins")
    parser.add_argument(
        "--producer-id", type=int, metavar="N", help="producer id of the transaction, for brokers before 3.0"
    )
    parser.add_argument("--producer-epoch", type=int, metavar="N", help="producer epoch, for brokers before 3.0")
    parser.add_argument("--coordinator-epoch", type=int, metavar="N", help="coordinator epoch, for brokers before 3.0")


def _index(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) >= 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a partition: expected a whole number, 0 or more")
    return int(text)


def _minutes(text: str) -> int:
    return 0 if text == "0" else positive(text)


def _failed(arguments: argparse.Namespace, reason: str, error: BrokerError | None = None) -> int:
    """Say on standard error why it did not work out, as Kafka's tool does."""
    if arguments.output == "json":
        output.as_json({"error": None if error is None else error.code.name, "message": reason})
    else:
        output.note(reason)
    return FAILED


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table as wide as what is in it, tabs between. Kafka: ToolsUtils.prettyPrintTable."""
    cells = [list(map(output.fit, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(headers, *cells, strict=True)]
    output.heading(_row(widths, headers))
    for row in cells:
        output.say(_row(widths, row))


def _row(widths: Sequence[int], row: Sequence[str]) -> str:
    return "".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True))


def _list(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, transactions

    try:
        found = transactions.list_transactions(
            client,
            states=arguments.state or (),
            producer_ids=arguments.producer_id or (),
            duration_ms=arguments.duration_filter,
            pattern=arguments.transactional_id_pattern,
        )
    except BrokerError as error:
        return _failed(arguments, f"Failed to list transactions: {error.message}.", error)
    if arguments.output == "json":
        output.as_json([asdict(row) for row in found])
        return 0
    headers = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
    _table(headers, [(row.transactional_id, row.coordinator, row.producer_id, row.state) for row in found])
    return 0


def _describe(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, transactions

    name = arguments.transactional_id
    try:
        found = transactions.describe(client, name)
    except BrokerError as error:
        reason = f"Failed to describe transaction state of transactional-id `{name}`: {error.message}."
        return _failed(arguments, reason, error)
    if arguments.output == "json":
        partitions = [{"topic": topic, "partition": index} for topic, index in found.partitions]
        output.as_json(asdict(found) | {"partitions": partitions})
        return 0
    headers = (
        "CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
        "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions",
    )  # fmt: skip
    start, duration = (_NONE, _NONE) if found.start_ms is None else (found.start_ms, _now_ms() - found.start_ms)
    joined = ",".join(f"{topic}-{index}" for topic, index in found.partitions)
    row = (
        found.coordinator, name, found.producer_id, found.producer_epoch, found.state, found.timeout_ms, start,
        duration, joined,
    )  # fmt: skip
    _table(headers, [row])
    return 0


def _describe_producers(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, transactions

    partition = arguments.topic, arguments.partition
    try:
        found = transactions.producers(client, [partition], arguments.broker_id).get(partition, [])
    except BrokerError as error:
        where = "leader" if arguments.broker_id is None else f"broker {arguments.broker_id}"
        reason = f"Failed to describe producers for partition {_shown(arguments)} on {where}: {error.message}."
        return _failed(arguments, reason, error)
    if arguments.output == "json":
        output.as_json([asdict(row) for row in found])
        return 0
    headers = (
        "ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp",
        "CurrentTransactionStartOffset",
    )  # fmt: skip
    rows = [
        (
            row.producer_id, row.producer_epoch, row.coordinator_epoch, row.last_sequence, row.last_timestamp,
            _NONE if row.start_offset is None else row.start_offset,
        )
        for row in found
    ]  # fmt: skip
    _table(headers, rows)
    return 0


def _abort(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, transactions

    partition = arguments.topic, arguments.partition
    producer = arguments.producer_id, arguments.producer_epoch, arguments.coordinator_epoch
    if arguments.start_offset is not None:
        try:
            found = transactions.open_at(client, partition, arguments.start_offset)
        except BrokerError as error:
            reason = f"Failed to validate producer state for partition {_shown(arguments)}: {error.message}."
            return _failed(arguments, reason, error)
        if found is None:
            where = f"offset {arguments.start_offset} on partition {_shown(arguments)}"
            return _failed(arguments, f"Could not find any open transactions starting at {where}")
        producer = found.producer_id, found.producer_epoch, found.coordinator_epoch
    elif producer[0] is None:
        return _failed(
            arguments,
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or above) "
            "or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)",
        )
    for name, value in zip(("--producer-epoch", "--coordinator-epoch"), producer[1:], strict=True):
        if value is None:
            return _failed(arguments, f"Missing required argument {name}")
    try:
        transactions.abort(client, partition, *producer)
    except BrokerError as error:
        return _not_aborted(arguments, producer, error)
    if arguments.output == "json":
        output.as_json({"topic": partition[0], "partition": partition[1], "producer_id": producer[0]})
    return 0


def _not_aborted(arguments: argparse.Namespace, producer: tuple[int, int, int], error: BrokerError) -> int:
    """As Java's AbortTransactionHandler has it."""
    from kafkawire.errors import ErrorCode

    names = ("producerId", "producerEpoch", "coordinatorEpoch")
    of_producer = ", ".join(f"{name}={value}" for name, value in zip(names, producer, strict=True))
    what = f"AbortTransactionSpec(topicPartition={_shown(arguments)}, {of_producer})"
    if error.code == ErrorCode.INVALID_PRODUCER_EPOCH:
        why = "failed due an invalid producer epoch"
    elif error.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        why = "failed due to cluster authorization error"
    elif error.code == ErrorCode.TRANSACTION_COORDINATOR_FENCED:
        epoch = f"coordinator epoch {producer[2]}"
        why = f"failed since the provided {epoch} has been fenced by the active coordinator"
    else:
        why = f"failed due to unexpected error: {error.message}"
    return _failed(arguments, f"Failed to abort transaction {what}: WriteTxnMarkers request with {what} {why}.", error)


def _find_hanging(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, topics, transactions

    topic, partition, broker_id = arguments.topic, arguments.partition, arguments.broker_id
    if topic is None and broker_id is None:
        scope = "requires either --topic or --broker-id to limit the scope of the search"
        return _failed(arguments, f"The `find-hanging` command {scope}")
    if partition is not None and topic is None:
        return _failed(arguments, "The --partition argument requires --topic to be provided")
    names = [topic] if topic is not None else list(topics.names(client))
    now_ms = _now_ms()
    try:
        if partition is not None:
            partitions = [(topic, partition)]
        else:
            partitions = transactions.partitions_on(client, names, broker_id)
        older = arguments.max_transaction_timeout * _MINUTE_MS
        found = transactions.find_hanging(client, partitions, older, now_ms, broker_id)
    except BrokerError as error:
        return _failed(arguments, f"Failed to describe {len(names)} topics: {error.message}.", error)
    if arguments.output == "json":
        output.as_json([asdict(each) for each in found])
        return 0
    headers = (
        "Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp",
        "Duration(min)",
    )  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for each in found:
        one = each.producer
        minutes = (now_ms - one.last_timestamp) // _MINUTE_MS
        of_producer = one.producer_id, one.producer_epoch, one.coordinator_epoch, one.start_offset, one.last_timestamp
        rows.append((each.topic, each.partition, *of_producer, minutes))
    _table(headers, rows)
    return 0


def _terminate(arguments: argparse.Namespace, client: Client) -> int:
    from kafkastub.client import BrokerError, transactions

    name = arguments.transactional_id
    try:
        transactions.fence(client, name)
    except BrokerError as error:
        return _failed(arguments, f"Failed to force terminate transactionalId `{name}`: {error.message}.", error)
    if arguments.output == "json":
        output.as_json({"transactional_id": name})
    return 0


def _shown(arguments: argparse.Namespace) -> str:
    return f"{arguments.topic}-{arguments.partition}"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
