"""What is done with Kafka's command-line tools, one function a transcript in golden/."""

from __future__ import annotations

from collections.abc import Mapping

from kafkastub.client import Client
from kafkastub.client.transactions import describe
from kafkawire.errors import ErrorCode
from tests.clients import histories_consumer, histories_share, histories_streams
from tests.clients.client import until
from tests.clients.tools import LONG_AGO, History, Members, Terminal, filled
from tests.clients.transactional import RawProducer


def console(terminal: Terminal) -> None:
    """Topics and records with the console tools."""
    terminal.run("kafka-topics --create --topic orders --partitions 1")
    terminal.run("kafka-topics --create --topic orders --partitions 1")
    terminal.run("kafka-topics --create --topic orders --partitions 1 --if-not-exists")
    terminal.run("kafka-topics --create --topic compacted --partitions 2 --config cleanup.policy=compact")
    terminal.run("kafka-topics --list")
    terminal.run("kafka-topics --describe")
    terminal.run("kafka-topics --alter --topic compacted --partitions 3")
    terminal.run("kafka-topics --describe --topic compacted")
    terminal.run("kafka-topics --describe --topic nothing")
    terminal.run("kafka-console-producer --topic orders", stdin="first\nsecond\nthird\n")
    keyed = "--reader-property parse.key=true --reader-property key.separator=:"
    terminal.run(f"kafka-console-producer --topic orders {keyed}", stdin="k4:fourth\nk5:fifth\n")
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        command = f"kafka-console-producer --topic orders --compression-codec {codec}"
        terminal.run(command, stdin=f"{codec} one\n{codec} two\n")
    terminal.run("kafka-console-producer --topic orders --producer-property enable.idempotence=false", stdin="plain\n")
    terminal.run("kafka-get-offsets --topic orders")
    terminal.run("kafka-get-offsets --topic orders --time earliest")
    terminal.run("kafka-get-offsets --topic-partitions orders:0,compacted:1 --time latest")
    shown = " ".join(f"--formatter-property print.{part}=true" for part in ("partition", "offset", "headers", "key"))
    terminal.run("kafka-console-consumer --topic orders --group everything --from-beginning --max-messages 14")
    terminal.run(f"kafka-console-consumer --topic orders --partition 0 --offset 3 --max-messages 4 {shown}")
    terminal.run("kafka-console-consumer --topic orders --group readers --from-beginning --max-messages 5")
    terminal.run("kafka-console-consumer --include or.* --group readers --max-messages 3")
    terminal.run("kafka-consumer-groups --list")
    terminal.run("kafka-consumer-groups --describe --group readers")
    terminal.run("kafka-topics --delete --topic compacted")
    terminal.run("kafka-topics --delete --topic compacted")
    terminal.run("kafka-topics --list")


def groups(terminal: Terminal) -> None:
    """A group through its life: two members, one, none, gone."""
    members = Members(terminal)
    filled(terminal, "orders", 3, 10)
    filled(terminal, "audit", 1, 4)
    filled(terminal, "old", 2, 3)

    members.join("workers", "one", ["old"])
    members.read_all("one", 6)
    members.leave("one")
    members.join("workers", "one", ["orders", "audit"])
    members.read_all("one", 34)
    terminal.run("kafka-consumer-groups --list")
    terminal.run("kafka-consumer-groups --list --state")
    terminal.run("kafka-consumer-groups --list --type")
    terminal.run("kafka-consumer-groups --list --state stable --type classic")
    terminal.run("kafka-consumer-groups --list --state Empty")
    terminal.run("kafka-consumer-groups --describe --group workers")
    terminal.run("kafka-consumer-groups --describe --group workers --members")
    members.join("workers", "two", ["orders"])
    members.poll_until({"one": 3, "two": 1})
    terminal.run("kafka-consumer-groups --describe --group workers")
    for part in ("--offsets", "--members", "--state"):
        terminal.run(f"kafka-consumer-groups --describe --group workers {part}")
        terminal.run(f"kafka-consumer-groups --describe --group workers {part} --verbose")
    terminal.run("kafka-consumer-groups --describe --all-groups --state")

    terminal.run("kafka-consumer-groups --delete --group workers")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic orders")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic old")
    terminal.run("kafka-consumer-groups --reset-offsets --group workers --topic orders --to-earliest --execute")
    terminal.run("kafka-consumer-groups --describe --group workers")

    members.leave("one")
    members.poll_until({"two": 3})
    terminal.run("kafka-consumer-groups --describe --group workers")
    terminal.run("kafka-consumer-groups --describe --group workers --state")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic audit")
    members.leave("two")
    for part in ("", " --members", " --members --verbose", " --state"):
        terminal.run(f"kafka-consumer-groups --describe --group workers{part}")
    terminal.run("kafka-consumer-groups --list --state")
    terminal.run("kafka-consumer-groups --delete-offsets --group workers --topic orders:1")
    terminal.run("kafka-consumer-groups --describe --group workers")
    terminal.run("kafka-consumer-groups --delete --group workers --group nobody")
    terminal.run("kafka-consumer-groups --list")


def nobody(terminal: Terminal) -> None:
    """Questions about a group that does not exist, and about topics that do not."""
    filled(terminal, "orders", 2, 5)
    terminal.run("kafka-consumer-groups --list")
    for part in ("", " --members", " --state"):
        terminal.run(f"kafka-consumer-groups --describe --group nobody{part}")
    terminal.run("kafka-consumer-groups --delete --group nobody")
    terminal.run("kafka-consumer-groups --delete-offsets --group nobody --topic orders")
    terminal.run("kafka-consumer-groups --reset-offsets --group nobody --topic missing --to-earliest --execute")
    terminal.run("kafka-consumer-groups --reset-offsets --group nobody --topic orders:7 --to-earliest --execute")
    terminal.run("kafka-consumer-groups --list")


def reset(terminal: Terminal) -> None:
    """Every way to reset the offsets of a group without members."""
    filled(terminal, "orders", 2, 10)
    filled(terminal, "audit", 1, 10)
    command = "kafka-consumer-groups --reset-offsets --group readers"
    terminal.run(f"{command} --topic orders --to-offset 4 --execute")
    terminal.run("kafka-consumer-groups --describe --group readers")
    terminal.run("kafka-consumer-groups --describe --group readers --state")
    terminal.run("kafka-consumer-groups --list --state")
    terminal.run(f"{command} --topic orders --to-latest --dry-run")
    terminal.run(f"{command} --topic orders --to-latest")
    terminal.run(f"{command} --topic orders --shift-by -3 --execute")
    terminal.run(f"{command} --topic orders:1 --shift-by 2 --execute")
    terminal.run(f"{command} --topic orders --to-current --execute")
    terminal.run(f"{command} --topic orders --to-datetime 2023-11-14T22:13:25.500 --execute")
    terminal.run(f"{command} --topic orders --by-duration PT1H --execute")
    terminal.run(f"{command} --topic orders --by-duration P20000D --execute")
    terminal.run(f"{command} --topic orders --to-offset 1000 --execute")
    terminal.run(f"{command} --topic orders --shift-by -1000 --execute")
    terminal.run(f"{command} --topic audit --to-latest --execute")
    terminal.run(f"{command} --all-topics --to-offset 7 --export --dry-run")
    terminal.file("offsets.csv", '"orders",0,1\n"orders",1,2\n"audit",0,3\n')
    terminal.run(f"{command} --from-file offsets.csv --dry-run")
    terminal.run(f"{command} --from-file offsets.csv --execute")
    terminal.run("kafka-consumer-groups --describe --group readers")
    terminal.run("kafka-consumer-groups --delete-offsets --group readers --topic orders")
    terminal.run("kafka-consumer-groups --describe --group readers")
    terminal.run("kafka-consumer-groups --delete --group readers")
    terminal.run("kafka-consumer-groups --list")


def quotas(terminal: Terminal) -> None:
    """Client quotas, set, read and removed."""
    alter = "kafka-configs --alter"
    terminal.run(f"{alter} --entity-type clients --entity-name loader --add-config producer_byte_rate=1048576")
    terminal.run(f"{alter} --entity-type users --entity-name carol --add-config consumer_byte_rate=2097152")
    both = "--entity-type users --entity-name carol --entity-type clients"
    terminal.run(f"{alter} {both} --entity-name loader --add-config producer_byte_rate=1024,request_percentage=12.5")
    terminal.run(f"{alter} {both} --entity-default --add-config controller_mutation_rate=10")
    terminal.run(f"{alter} --entity-type clients --entity-default --add-config request_percentage=200")
    terminal.run(f"{alter} --entity-type ips --entity-name 10.0.0.1 --add-config connection_creation_rate=100")
    terminal.run(f"{alter} --entity-type ips --entity-default --add-config connection_creation_rate=1000")
    for refused in ("producer_byte_rate=0", "producer_byte_rate=many", "connection_creation_rate=5", "no_such=5"):
        terminal.run(f"{alter} --entity-type clients --entity-name loader --add-config {refused}")
    terminal.run(f"{alter} --entity-type ips --entity-name 10.0.0.256 --add-config connection_creation_rate=100")
    for asked in (
        "clients --entity-name loader",
        "clients --entity-default",
        "clients --entity-name nobody",
        "users --entity-name carol",
        "users --entity-name carol --entity-type clients --entity-name loader",
        "users --entity-name carol --entity-type clients",
        "ips --entity-name 10.0.0.1",
        "ips --entity-default",
    ):
        terminal.run(f"kafka-configs --describe --entity-type {asked}")
    terminal.run(f"{alter} --entity-type clients --entity-name loader --delete-config producer_byte_rate")
    terminal.run(f"{alter} --entity-type ips --entity-name 10.0.0.1 --delete-config connection_creation_rate")
    terminal.run(f"{alter} --entity-type users --entity-name bob --delete-config producer_byte_rate")
    terminal.run("kafka-configs --describe --entity-type clients --entity-name loader")
    terminal.run("kafka-configs --describe --entity-type ips --entity-name 10.0.0.1")


def features(terminal: Terminal) -> None:
    """Features told, taken up and down, and what is refused."""
    terminal.run("kafka-features describe")
    terminal.run("kafka-features version-mapping")
    for asked in (
        "upgrade --feature share.version=2",
        "upgrade --feature share.version=9",
        "upgrade --feature no.such=1",
        "upgrade --feature group.version=1 --feature share.version=9 --feature no.such=1",
        "upgrade --release-version 4.3-IV0",
        "downgrade --feature share.version=1 --dry-run",
        "downgrade --feature share.version=1",
        "downgrade --feature share.version=2",
        "downgrade --metadata 4.2-IV1",
        "downgrade --unsafe --metadata 4.2-IV1",
        "downgrade --feature kraft.version=0",
        "disable --feature streams.version --dry-run",
        "disable --feature streams.version",
        "disable --feature no.such",
        "upgrade --feature transaction.version=2 --dry-run",
    ):
        terminal.run(f"kafka-features {asked}")
        terminal.settle()
    terminal.run("kafka-features describe")


def transactions(terminal: Terminal) -> None:
    """Transactions that are open, complete and hanging; the hanging one is ended."""
    filled(terminal, "orders", 2, 1)
    terminal.run("kafka-transactions list")
    verification = "transaction.partition.verification.enable=false"
    terminal.run(f"kafka-configs --alter --entity-type brokers --entity-default --add-config {verification}")
    with Client(terminal.servers) as client:
        open_one, complete, hanging = (RawProducer(client, name) for name in ("open", "complete", "hanging"))
        open_one.add("orders", 0, 1)
        for partition in (0, 1):
            assert open_one.produce("orders", partition, b"x", LONG_AGO) is ErrorCode.NONE
        complete.add("orders", 0)
        assert complete.produce("orders", 0, b"x", LONG_AGO) is ErrorCode.NONE
        complete.end()
        until(lambda: hanging.produce("orders", 1, b"x", LONG_AGO) is ErrorCode.NONE, "a partition that was not added")
        terminal.say("open has records in both partitions; complete has committed; hanging has added no partition")
        until(lambda: describe(client, "complete").state == "CompleteCommit", "markers")
    for asked in (
        "list",
        "list --duration-filter 0",
        "list --duration-filter 10000000",
        "list --transactional-id-pattern ^.*e.*$",
        "list --transactional-id-pattern nobody",
        "describe --transactional-id open",
        "describe --transactional-id complete",
        "describe --transactional-id hanging",
        "describe --transactional-id nobody",
        "describe-producers --topic orders --partition 0",
        "describe-producers --topic orders --partition 1 --broker-id 1",
        "find-hanging",
        "find-hanging --broker-id 1 --partition 1",
        "find-hanging --broker-id 1",
        "find-hanging --topic orders",
        "find-hanging --topic orders --partition 0",
        "find-hanging --topic orders --partition 1 --broker-id 1",
        "find-hanging --topic orders --max-transaction-timeout 100000000",
        "find-hanging --topic missing",
        "abort --topic orders --partition 1",
        "abort --topic orders --partition 1 --start-offset 77",
        "abort --topic orders --partition 1 --producer-id 2",
        "abort --topic orders --partition 1 --producer-id 2 --producer-epoch 0",
        "abort --topic orders --partition 1 --start-offset 2",
        "abort --topic orders --partition 1 --start-offset 2",
        "find-hanging --topic orders",
        "describe-producers --topic orders --partition 1",
        "abort --topic orders --partition 0 --producer-id 777 --producer-epoch 0 --coordinator-epoch -1",
        "abort --topic orders --partition 0 --producer-id 777 --producer-epoch -1 --coordinator-epoch 0",
        "forceTerminateTransaction --transactionalId open",
        "describe --transactional-id open",
        "describe-producers --topic orders --partition 1",
        "forceTerminateTransaction --transactionalId nobody",
        "list",
    ):
        terminal.run(f"kafka-transactions {asked}")


def _controller(terminal: Terminal, node_id: int) -> None:
    """What a controller of that id would be started with."""
    terminal.say(f"controller.properties of controller {node_id}")
    folder = terminal.folder / f"controller-{node_id}"
    folder.mkdir(exist_ok=True)
    known = {"version": 1, "cluster.id": "unused", "node.id": node_id, "directory.id": "AQIDBAUGBwgJCgsMDQ4PEA"}
    (folder / "meta.properties").write_text("".join(f"{key}={value}\n" for key, value in known.items()))
    settings = {
        "process.roles": "controller",
        "node.id": node_id,
        "listeners": "CONTROLLER://localhost:19093",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder,
    }
    text = "".join(f"{key}={value}\n" for key, value in settings.items())
    (terminal.folder / "controller.properties").write_text(text)


def quorum(terminal: Terminal) -> None:
    """The quorum, brokers of the cluster, and those that are taken out of it."""
    terminal.run("kafka-metadata-quorum describe --status")
    terminal.run("kafka-metadata-quorum describe --replication")
    terminal.run("kafka-metadata-quorum describe --replication --human-readable")
    terminal.run(
        "kafka-metadata-quorum remove-controller --controller-id 1 --controller-directory-id AQIDBAUGBwgJCgsMDQ4PEA"
    )
    terminal.run(
        "kafka-metadata-quorum remove-controller --controller-id 7 --controller-directory-id AQIDBAUGBwgJCgsMDQ4PEA"
    )
    for node_id in (1, 7):
        _controller(terminal, node_id)
        terminal.run("kafka-metadata-quorum --command-config controller.properties add-controller --dry-run")
    _controller(terminal, 1)
    terminal.run("kafka-metadata-quorum --command-config controller.properties add-controller")
    terminal.run("kafka-cluster cluster-id")
    terminal.run("kafka-cluster list-endpoints")
    terminal.run("kafka-cluster list-endpoints --include-fenced-brokers")
    terminal.run("kafka-cluster unregister --id 7")
    terminal.run("kafka-cluster unregister --id 1")  # there is nobody left to ask


_OF_CONSUMERS = (histories_consumer.consumer, histories_consumer.static, histories_consumer.mixed)
_OF_SHARE_GROUPS = (histories_share.share, histories_share.share_console, histories_share.share_offsets)
_OF_STREAMS_GROUPS = (histories_streams.streams, histories_streams.streams_offsets)
_OTHERS = (console, features, groups, nobody, quorum, quotas, reset, transactions)
_HISTORIES = (*_OTHERS, *_OF_CONSUMERS, *_OF_SHARE_GROUPS, *_OF_STREAMS_GROUPS)
HISTORIES: dict[str, History] = {history.__name__: history for history in _HISTORIES}


def settings_of(name: str) -> Mapping[str, object]:
    """What the broker of a history is configured with, beside what all are."""
    if HISTORIES[name] in _OF_SHARE_GROUPS:
        return histories_share.SETTINGS
    if HISTORIES[name] in _OF_STREAMS_GROUPS:
        return histories_streams.SETTINGS
    return histories_consumer.SETTINGS if HISTORIES[name] in _OF_CONSUMERS else {}
