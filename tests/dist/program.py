"""A program of a user, with all that `kafkastub` offers: it is looked at by type checkers, and run."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime, timedelta
from pathlib import Path

import kafkastub
from kafkastub import (
    ChaosAct,
    ConfigError,
    DataDirError,
    FaultError,
    FaultRule,
    FaultTimeout,
    Finding,
    GroupTimeout,
    GuaranteeBroken,
    JournalTimeout,
    KafkaProxy,
    KafkaStub,
    NotInFront,
    RecordsTimeout,
    Snapshot,
    SnapshotError,
    StubError,
    TopicError,
    TopicTimeout,
    TransactionTimeout,
    Verdict,
    replay,
)


def records_and_offsets(stub: KafkaStub) -> int:
    produced = stub.produce("orders", b"first", key="a", headers=[("trace", b"1")])
    offset: int = produced.offset
    texts: list[bytes | None] = [record.value for record in stub.records("orders")]
    stub.records.wait("orders", 1, match=lambda record: record.key == b"a", timeout=5)
    stub.commit("shipping", {("orders", 0): 1})
    lag: dict[tuple[str, int], int] = stub.lag("shipping")
    assert stub.offsets.lag("shipping") == lag
    stub.wait_topic("orders", partitions=1)
    stub.wait_group("shipping", state="Empty", members=0)
    return offset + len(texts) + sum(lag.values())


def clock(stub: KafkaStub) -> timedelta:
    stub.clock.freeze()
    before: datetime = stub.clock.now()
    stub.clock.advance(days=1, timers=False)
    after: datetime = stub.clock.now()
    stub.expire_offsets_now()
    return after - before


def faults(stub: KafkaStub) -> list[str]:
    rule = FaultRule(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", times=1, name="once")
    with stub.faults.add(rule) as fault, stub.faults.add(api="OffsetCommit", delay_ms=1):
        hits: int = fault.hits
        names: list[str] = [one.id for one in stub.faults]
    stub.chaos.start(seed=7)
    stub.chaos.stop()
    stub.chaos.play([ChaosAct("Produce", 5, drop="after")])
    stub.chaos.stop()
    names += [str(act) for act in stub.chaos.acts]
    return [*names, str(hits)]


def groups(stub: KafkaStub) -> list[str]:
    told = [f"{name} {group.state} {len(group.members)}" for name, group in stub.groups.items()]
    told += [f"{name} {group.state}" for name, group in stub.share_groups.items()]
    told += [f"{name} {group.state}" for name, group in stub.streams_groups.items()]
    return told + [f"{name} {view.state}" for name, view in stub.transactions.items()]


def cluster(stub: KafkaStub) -> list[int]:
    stub.add_node(rack="b")
    stub.move_leader("orders", 0, 2)
    leader: int = stub.leader_of("orders", 0)
    running: list[int] = [number for number, node in stub.nodes.items() if node.running]
    quotas = stub.quotas
    quotas.set(user="loader", consumer_byte_rate=1_000_000)
    stub.set_quota(client_id="loader", producer_byte_rate=1_000_000)
    counted: dict[str, int] = stub.metrics()
    where: list[int] = [stub.port, *stub.ports]
    assert f"{stub.host}:{where[0]}" in stub.bootstrap_servers
    return [leader, *running, counted["offset-commits"]]


def journal(stub: KafkaStub) -> list[str]:
    return [f"{entry.api} v{entry.api_version} {entry.error_names}" for entry in stub.journal.tail(5)]


def snapshots(stub: KafkaStub, folder: Path) -> dict[str, int]:
    saved: Snapshot = stub.snapshot()
    saved.save(folder / "saved")
    with stub.rolled_back():
        stub.create_topic("passing", 1, {"retention.ms": "1000"})
    stub.restore(Snapshot.load(folder / "saved"))
    return saved.topics


def verdict(stub: KafkaStub) -> list[str]:
    found: Verdict = stub.check(ignoring=["skipped"])
    findings: tuple[Finding, ...] = tuple(found.findings)
    try:
        found.raise_for_findings()
    except GuaranteeBroken as broken:
        return [str(broken), *(finding.guarantee for finding in findings)]
    return []


def in_front(stub: KafkaStub) -> str:
    with KafkaProxy(stub.bootstrap_servers) as proxy:
        try:
            proxy.clock.advance(days=1)
        except NotInFront as error:
            return str(error)
    return ""


def errors() -> list[type[BaseException]]:
    """Each that the stub raises, where it is told from others."""
    raised: list[type[BaseException]] = []
    with KafkaStub(topics=["orders"]) as stub:
        try:
            stub.create_topic("orders")
        except TopicError as error:
            raised.append(type(error))
        try:
            stub.faults.add(api="Fetch", error="NO_SUCH_ERROR")
        except FaultError as error:
            raised.append(type(error))
        for wait, kind in (
            (lambda: stub.wait_topic("never", timeout=0), TopicTimeout),
            (lambda: stub.wait_group("never", timeout=0), GroupTimeout),
            (lambda: stub.records.wait("orders", timeout=0), RecordsTimeout),
            (lambda: stub.journal.wait_for(api="Fetch", timeout=0), JournalTimeout),
            (lambda: stub.transactions.wait("never", state="Ongoing", timeout=0), TransactionTimeout),
            (lambda: stub.faults.add(api="Fetch", delay_ms=1).wait(timeout=0), FaultTimeout),
        ):
            try:
                wait()
            except kind:
                raised.append(kind)
    try:
        stub.create_topic("closed")
    except StubError as error:
        raised.append(type(error))
    try:
        KafkaStub(config={"group.max.size": "many"})
    except ConfigError as error:
        raised.append(type(error))
    try:
        KafkaStub(snapshot=__file__)
    except SnapshotError as error:
        raised.append(type(error))
    try:
        KafkaStub(data_dir=__file__).start()
    except DataDirError as error:
        raised.append(type(error))
    return raised


async def in_a_loop() -> int:
    async with KafkaStub(topics={"orders": 1}) as stub:
        stub.produce("orders", "one")
        await stub.aio.wait_records("orders", 1, timeout=5)
        return len(stub.records("orders"))


def main(folder: Path) -> None:
    with KafkaStub(topics={"orders": 1}, profile="kafka", journal=folder / "journal") as stub:
        print(stub.bootstrap_servers, records_and_offsets(stub), clock(stub), faults(stub), groups(stub))
        print(cluster(stub), journal(stub), snapshots(stub, folder), verdict(stub), in_front(stub))
    print(asyncio.run(in_a_loop()), *(each.__name__ for each in errors()))
    with KafkaStub() as fresh:
        try:
            print(replay(folder / "journal", fresh))
        except ValueError as error:
            print(error)
    print(kafkastub.__version__, kafkastub.RegistryError.__name__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
