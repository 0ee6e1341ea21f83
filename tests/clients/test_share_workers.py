"""Workers of a share group while leaders and coordinators move and nodes go: nothing is lost, nothing is left."""

from __future__ import annotations

import random
import threading
from collections import Counter

from confluent_kafka import AcknowledgeType, KafkaException, ShareConsumer

from kafkastub import KafkaStub
from tests.stub.test_share_groups import EARLIEST, QUICK
from tests.waiting import SECONDS

STEPS = 60
EACH = 10
"""Records of a step."""
PARTITIONS = 6


class Worker(threading.Thread):
    """Accepts what it reads, but for what it releases now and then; goes on whatever is answered."""

    def __init__(self, stub: KafkaStub, number: int) -> None:
        super().__init__()
        settings = {"bootstrap.servers": stub.bootstrap_servers, "group.id": "g", "log_level": 0}
        self._consumer = ShareConsumer({**settings, "share.acknowledgement.mode": "explicit"})
        self._consumer.subscribe(["orders"])
        self._chance = random.Random(number)
        self.read: Counter[tuple[int, int]] = Counter()
        self.accepted: Counter[tuple[int, int]] = Counter()
        self.stopping = threading.Event()

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._work()
            except KafkaException:  # who answers has changed: once more
                continue
        self._consumer.close()

    def _work(self) -> None:
        accepted = []
        for message in self._consumer.poll(0.05):
            place = (message.partition(), message.offset())
            self.read[place] += 1
            if self._chance.random() < 0.05 and message.delivery_count() == 1:
                self._consumer.acknowledge(message, AcknowledgeType.RELEASE)
            else:
                self._consumer.acknowledge(message)
                accepted.append(place)
        refused = {place.partition for place, error in self._consumer.commit_sync(SECONDS).items() if error}
        self.accepted.update(place for place in accepted if place[0] not in refused)


def test_nothing_is_lost_while_nodes_come_and_go() -> None:
    chance = random.Random(7)
    with KafkaStub(topics={"orders": PARTITIONS}, config=QUICK, nodes=3) as stub:
        stub.share_groups.configure("g", {**EARLIEST, "share.delivery.count.limit": 10})
        workers = [Worker(stub, number) for number in range(3)]
        for worker in workers:
            worker.start()
        stub.wait_group("g", members=3, timeout=SECONDS)
        for step in range(STEPS):
            for number in range(EACH):
                stub.produce("orders", f"{step}-{number}", partition=number % PARTITIONS)
            running = (1, 2, 3) if stub.nodes[3].running else (1, 2)
            stub.move_leader("orders", chance.randrange(PARTITIONS), chance.choice(running))
            if step % 10 == 4:
                stub.move_coordinator("g", chance.choice(running))
            if step % 20 == 10:
                for index in range(PARTITIONS):
                    if stub.leader_of("orders", index) == 3:
                        stub.move_leader("orders", index, 1)
                stub.nodes[3].stop()
            if step % 20 == 15:
                stub.nodes[3].start()
        stub.share_groups.wait("g", lag=0, timeout=SECONDS)
        ends = {index: one.end for (_, index), one in stub.share_groups["g"].items()}
        for worker in workers:
            worker.stopping.set()
        for worker in workers:
            worker.join(SECONDS)
    everything = {(index, offset) for index, end in ends.items() for offset in range(end)}
    assert len(everything) == STEPS * EACH
    assert {place for worker in workers for place in worker.read} == everything
    twice = Counter(place for worker in workers for place in worker.accepted.elements())
    assert {place: times for place, times in twice.items() if times > 1} == {}
