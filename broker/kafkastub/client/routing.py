"""From a request to the broker that has to answer it: any, the controller, a group's coordinator, a partition's leader.

Answers that only say that somebody else is responsible by now, or that it is too early, are asked again until the
deadline (Kafka: the retriable errors of `CoordinatorStrategy` and `PartitionLeaderStrategy`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Self, TypeVar

from kafkastub.client.connection import Connection, Connector, plain
from kafkastub.client.errors import BrokerError, ClientError, ConnectionClosed, NotListening, TimedOut
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafkawire.schema import Message, Struct

T = TypeVar("T")

GROUP: Final = 0
TRANSACTION: Final = 1
"""Key types of FindCoordinator."""

_COORDINATOR_ELSEWHERE: Final = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
)
_LEADER_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
_CONTROLLER_ELSEWHERE: Final = frozenset({ErrorCode.NOT_CONTROLLER})
_PAUSES: Final = (0.05, 0.1, 0.2, 0.4)
"""Seconds between attempts; the last one from then on."""


class Node(NamedTuple):
    """A broker, as the cluster says it is reached."""

    id: int
    host: str
    port: int


class Client:
    """Connections to a cluster, opened as they are needed.

    Args:
        bootstrap: `HOST:PORT`, several of them separated by commas or as a sequence; the first that answers serves.
        timeout: seconds that any one call may take, retries included.
    """

    def __init__(
        self,
        bootstrap: str | Sequence[str],
        timeout: float = 30,
        client_id: str | None = "kafkastub",
        connector: Connector = plain,
    ) -> None:
        """Raises ValueError for what is no address."""
        texts = bootstrap.split(",") if isinstance(bootstrap, str) else list(bootstrap)
        self.bootstrap = [_address(text.strip()) for text in texts if text.strip()]
        if not self.bootstrap:
            raise ValueError("no bootstrap server: expected HOST:PORT, for example localhost:9092")
        self.timeout = timeout
        self._client_id = client_id
        self._connector = connector
        self._any: Connection | None = None
        self._nodes: dict[Node, Connection] = {}

    def connection(self, node: Node | None = None, deadline: float | None = None) -> Connection:
        """An open connection, to `node` or to the first bootstrap server that answers. Raises ClientError."""
        if node is not None:
            found = self._nodes.get(node)
            if found is None:
                found = self._nodes[node] = self._open(node.host, node.port, deadline)
            return found
        if self._any is None:
            self._any = self._first(deadline)
        return self._any

    def ask(self, request: Message, node: Node | None = None, version: int | None = None) -> Any:
        """The answer of any broker, or of `node`. A connection that had been closed meanwhile is opened anew."""
        return self._ask(request, node, version, self._deadline())

    def ask_patiently(self, request: Message, node: Node) -> Any:
        """The answer of `node`, asked again while it says that its coordinator is not ready. Raises ClientError."""
        return self._retried(lambda deadline: self._ask(request, node, None, deadline), _COORDINATOR_ELSEWHERE)

    def ask_coordinator(
        self,
        key: str,
        request: Message,
        key_type: int = GROUP,
        version: int | None = None,
        too_early: frozenset[ErrorCode] = frozenset(),
    ) -> Any:
        """The answer of a group's (or transaction's) coordinator, wherever it is by now. Raises ClientError.

        It is asked again while it answers one of `too_early`, too.
        """
        return self._retried(
            lambda deadline: self._ask(request, self._coordinator(key, key_type, deadline), version, deadline),
            _COORDINATOR_ELSEWHERE | too_early,
        )

    def ask_controller(self, request: Message, version: int | None = None) -> Any:
        """The answer of the controller, or of the broker that forwards to it. Raises ClientError."""

        def attempt(deadline: float) -> Any:
            metadata = self._ask(MetadataRequest(topics=()), None, None, deadline)
            node = next((node for node in _nodes(metadata) if node.id == metadata.controller_id), None)
            return self._ask(request, node, version, deadline)

        return self._retried(attempt, _CONTROLLER_ELSEWHERE)

    def ask_leaders(
        self, partitions: Iterable[tuple[str, int]], make: Callable[[list[tuple[str, int]]], Message]
    ) -> list[Any]:
        """The answers of the leaders of `partitions`, each asked for its own. Raises ClientError.

        An answer that says that a leader is elsewhere is asked for again, all of them together.
        """
        wanted = list(partitions)

        def attempt(deadline: float) -> list[Any]:
            by_leader: dict[Node, list[tuple[str, int]]] = {}
            leaders = self._leaders({topic for topic, _ in wanted}, deadline)
            for partition in wanted:
                if partition not in leaders:
                    raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                leader = leaders[partition]
                if leader is None:
                    raise BrokerError(ErrorCode.LEADER_NOT_AVAILABLE)
                by_leader.setdefault(leader, []).append(partition)
            return [self._ask(make(own), node, None, deadline) for node, own in by_leader.items()]

        return self._retried(attempt, _LEADER_ELSEWHERE) if wanted else []

    def coordinator(self, key: str, key_type: int = GROUP) -> Node:
        """The coordinator of a group or transaction, waited for where there is none yet. Raises ClientError."""
        return self._retried(lambda deadline: self._coordinator(key, key_type, deadline), _COORDINATOR_ELSEWHERE)

    def nodes(self) -> list[Node]:
        """Every broker of the cluster."""
        return _nodes(self.ask(MetadataRequest(topics=())))

    def close(self) -> None:
        for connection in (*self._nodes.values(), *([self._any] if self._any else [])):
            connection.close()
        self._nodes, self._any = {}, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _coordinator(self, key: str, key_type: int, deadline: float) -> Node:
        version = self.connection(None, deadline).common_version(ApiKey.FIND_COORDINATOR, deadline=deadline)
        request = FindCoordinatorRequest(key=key, key_type=key_type, coordinator_keys=[key])
        answer = self._ask(request, None, version, deadline)
        found = answer.coordinators[0] if version >= 4 else answer
        if found.error_code:
            raise BrokerError(found.error_code, found.error_message)
        return Node(found.node_id, found.host, found.port)

    def _deadline(self) -> float:
        return time.monotonic() + self.timeout

    def _ask(self, request: Message, node: Node | None, version: int | None, deadline: float) -> Any:
        was_open = self._any is not None if node is None else node in self._nodes
        try:
            return self.connection(node, deadline).ask(request, version, deadline)
        except ConnectionClosed:
            self._forget(node)
            if not was_open:
                raise
            return self.connection(node, deadline).ask(request, version, deadline)
        except ClientError:
            self._forget(node)
            raise

    def _forget(self, node: Node | None) -> None:
        connection = self._any if node is None else self._nodes.pop(node, None)
        if node is None:
            self._any = None
        if connection is not None:
            connection.close()

    def _first(self, deadline: float | None) -> Connection:
        """The first bootstrap server that speaks Kafka. Raises what the last one came to."""
        failures: list[ClientError] = []
        for host, port in self.bootstrap:
            try:
                return self._open(host, port, deadline)
            except ClientError as error:
                failures.append(error)
        if len(failures) == 1:
            raise failures[0]
        raise type(failures[-1])("; ".join(map(str, failures)))

    def _open(self, host: str, port: int, deadline: float | None) -> Connection:
        left = self.timeout if deadline is None else max(deadline - time.monotonic(), 0.001)
        connection = Connection(host, port, left, self._client_id, self._connector)
        try:
            connection.negotiate(deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    def _retried(self, attempt: Callable[[float], T], elsewhere: frozenset[ErrorCode]) -> T:
        """What `attempt` gives once it is none of these errors, or whatever it is when the time is up."""
        deadline = self._deadline()
        tries, in_time = 0, True
        while True:
            try:
                answer = attempt(deadline)
                if not elsewhere.intersection(error_codes(answer)):
                    return answer
                failure: BrokerError | None = None
            except BrokerError as error:
                if error.code not in elsewhere:
                    raise
                failure = error
            except (NotListening, ConnectionClosed) as error:
                if tries >= len(_PAUSES):  # a broker that moves is away for a moment, one that is down is not
                    raise
                last: ClientError = error
                failure = BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(last))
            except TimedOut:
                if not tries:
                    raise
                in_time = False  # what the attempt before came to says more
            pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
            tries += 1
            if not in_time or time.monotonic() + pause >= deadline:
                if failure is not None:
                    raise TimedOut(f"no answer in {self.timeout:g} s: {failure}")
                return answer
            time.sleep(pause)

    def _leaders(self, topics: set[str], deadline: float) -> dict[tuple[str, int], Node | None]:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in sorted(topics)], allow_auto_topic_creation=False
        )
        answer = self._ask(request, None, None, deadline)
        nodes = {node.id: node for node in _nodes(answer)}
        return {
            (topic.name, partition.partition_index): nodes.get(partition.leader_id)
            for topic in answer.topics
            for partition in topic.partitions
        }


def _nodes(metadata: Any) -> list[Node]:
    return [Node(broker.node_id, broker.host, broker.port) for broker in metadata.brokers]


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not a bootstrap server: expected HOST:PORT, for example localhost:9092")
    return host.strip("[]"), int(port)


def error_codes(message: Any) -> Iterator[ErrorCode | int]:
    """Every error code in an answer (or in a list of answers), at any level; NONE included."""
    if isinstance(message, Struct):
        for row in message.FIELDS:
            value = getattr(message, row[0])
            if row[0].endswith("error_code"):
                yield value
            elif isinstance(row[1], str) and row[1].startswith("[]") and row[1][2:3].isupper():
                yield from error_codes(value)
    elif message is not None:  # an array, columns too
        for item in message:
            if isinstance(item, Struct):
                yield from error_codes(item)
