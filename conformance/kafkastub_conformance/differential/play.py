"""Playing a scenario on a broker: step by step, one connection a simulated client, many requests in flight.

Order without waiting. A broker in one thread (the stub; Kafka with one network, one I/O and one coordinator thread)
handles requests in the order in which they arrive on its sockets. So after each step the *watcher*, a connection of its
own, describes the groups; its answer proves that the step has been handled, all it released is on its way, and what did
not come is parked. Twice, because two answers written in one round may arrive in either order, and because a broker of
many threads may have been a moment behind. Only one thing happens behind that: the first join of an empty group
completes by a timer (of 0 ms). It is awaited. So are the markers of a transaction that ends: Kafka writes them behind
its answer, and each look waits until the watched transactional ids have theirs.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Mapping
from threading import Event

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.manners import impolite
from kafkastub_conformance.differential.scenario import Answers, Scenario, Step
from kafkastub_conformance.differential.stage import Stage
from kafkastub_conformance.differential.streams_looks import wants_topics

GRACE_SECONDS = 0.04
"""While a scenario is made, what seems parked gets so much longer: a busy machine may deliver two sockets' data in
another order than it was written."""

GUESTS_GRACE_SECONDS = 0.15
"""The same where a broker has threads of its own choice, which write what they answer first."""

WAITING = ("Fetch", "ShareFetch")
PARKING = ("JoinGroup", "SyncGroup", *WAITING)
"""The requests that a broker may hold back; those that wait for records, for PARKED_MS or longer."""

PARKED_MS = 10000

TRIES_A_STEP = 20
"""Of a random scenario. Often nobody is free to do what comes to mind, or it is nothing to ask of both brokers."""

RELEASING = (
    *PARKING, "LeaveGroup", "Produce", "DeleteTopics", "EndTxn", "InitProducerId", "WriteTxnMarkers",
    "ShareAcknowledge", "DeleteRecords",
)  # fmt: skip
"""The requests that may let others go."""

SETTLING_SECONDS = 0.2

RESOLVING_SECONDS = 0.06
RESOLVED_FIRST_SECONDS = 0.15
"""A regular expression is resolved on a thread of its own, behind the heartbeat's answer: so long that is given, a
new one longer."""


BEHIND_SECONDS = 0.03
"""What share groups do behind an answer, or when a connection ends: their partitions are initialised, what was acquired
is released. So long that is given."""

INITIALISED_SECONDS = 0.4
"""So long they are awaited where some are not initialised that are subscribed to."""

MADE_SECONDS = 1.5
"""So long the internal topics of a streams group are awaited."""

BEHIND = (
    "ShareGroupHeartbeat", "DeleteTopics", "CreatePartitions", "AlterShareGroupOffsets", "DeleteShareGroupOffsets",
    "DeleteGroups",
)  # fmt: skip


class NotThere(Exception):
    """The brokers do not both have this version of the API, or it is not for guests to ask."""


class Play:
    """A scenario while it is made: the script asks, the broker (Apache Kafka) answers, the steps are recorded."""

    def __init__(self, stage: Stage, scenario: Scenario) -> None:
        self.stage = stage
        self.scenario = scenario
        self.state: dict[str, Json] = {}
        self.grace = GRACE_SECONDS if stage.broker.alone else GUESTS_GRACE_SECONDS

    def fill(
        self,
        steps: int,
        source: random.Random,
        acts: Mapping[Callable[[], object], int],
        learn: Callable[[], object] = lambda: None,
    ) -> None:
        """Do one of `acts`, each as often as its weight says, until there are so many steps.

        `learn` follows each that made a step. What raises NotThere is passed over.
        """
        done = self.scenario.steps
        choices, weights = list(acts), list(acts.values())
        for _ in range(steps * TRIES_A_STEP):
            before = len(done)
            if before >= steps:
                break
            with contextlib.suppress(NotThere):
                source.choices(choices, weights)[0]()
            if len(done) > before:
                learn()

    def versions(self, api: str) -> list[int]:
        """The versions of an API that may be asked of both brokers."""
        return list(self.stage.broker.versions(api))

    def ask(
        self,
        on: str,
        api: str,
        version: int,
        body: dict[str, Json] | None = None,
        *,
        raw: list[Json] | None = None,
        after: str = "",
        settle: bool = False,
    ) -> Json:
        """One request on connection `on`. Returns its answer, or None where it is parked (`answers` gets it later).

        Raises NotThere for what must not be asked of both brokers.
        """
        broker = self.stage.broker
        if raw is None and version not in broker.versions(api):
            raise NotThere(f"{api} v{version}")
        if not broker.alone and (raw is not None or impolite(api, body or {})):
            raise NotThere(f"{api} v{version}: {impolite(api, body or {})}")
        step = Step(on=on, api=api, version=version, body=body or {}, raw=raw, after=after)
        queued = self.stage.waits(on)
        was_alive = self._alive(step.body.get("group_id"))
        self.stage.send(step)
        silent = api == "Produce" and step.body.get("acks") == 0
        if not queued and not silent and (not _may_park(step) or raw is not None):
            step.answers.append((on, self.stage.next_answer(on)))
        step.settle = settle and not all(map(_has_failed, step.answers))
        if step.settle:
            self.stage.settle()
        looked = self.stage.look(2 if self.stage.any_waits() else 1)
        late = self.stage.answers_now(self.grace if api in RELEASING else 0.0)
        if late and not broker.alone:
            looked = self.stage.look()  # it was written between the look and the answer
        step.answers += late
        first = api == "JoinGroup" and not was_alive and self.scenario.config != "delayed"
        if first and not queued and self.stage.waits(on):
            step.answers.append((on, self.stage.next_answer(on)))
        looked = self._resolved(step) or self._done_behind(step) or self._made(step) or self._release(step) or looked
        self._record(step, looked)
        return next((answer for who, answer in step.answers if who == on), None)

    def poll(self, on: str, api: str, version: int, body: dict[str, Json], until: Callable[[Json], bool]) -> Json:
        """One request again and again, until its answer satisfies `until` or the deadline has passed."""
        step = Step(on=on, api=api, version=version, body=body, poll=True)
        deadline = time.monotonic() + self.stage.broker.answer_seconds
        while True:
            self.stage.send(step)
            answer = self.stage.next_answer(on)
            if until(answer) or time.monotonic() > deadline:
                step.answers.append((on, answer))
                self.stage.touched = self.stage.touched[-1:]
                self._record(step, self.stage.look())
                return answer

    def close(self, on: str) -> None:
        """Close a connection; using it again opens another one."""
        step = Step(close=on)
        self.stage.send(step)
        looked = self.stage.look(2)
        if self.stage.share_groups:
            Event().wait(BEHIND_SECONDS)
            looked = self.stage.look(2)
            step.answers += self.stage.answers_now(self.grace)
        self._record(step, looked)

    def pause(self, milliseconds: int) -> None:
        """Let time pass, in real life: what only that makes happen is seen then."""
        step = Step(pause_ms=milliseconds)
        Event().wait(milliseconds / 1000)
        looked = self.stage.look(2)
        step.answers += self.stage.answers_now(self.grace)
        self._record(step, looked)

    def until(self, group: str, state: str) -> Answers:
        """Wait until a group is in a state, and return the answers that came meanwhile."""
        step = Step(until={group: state})
        looked = await_state(self.stage, step.until)
        step.answers += self.stage.answers_now(self.grace)
        self._record(step, self._release(step) or looked)
        return step.answers

    @property
    def answers(self) -> Answers:
        """What came because of the last step."""
        return self.scenario.steps[-1].answers

    def _alive(self, group: str | None) -> bool:
        """Whether the group had members or a rebalance before this step."""
        return self.state.get(group or "", {}).get("group_state", "Dead") not in ("Dead", "Empty", "")

    def _release(self, step: Step) -> dict[str, Json] | None:
        """An answer lets a connection's next request through, and others may follow it: look until no more come."""
        looked, seen = None, 0
        while len(step.answers) > seen and (self.stage.any_waits() or step.api == "JoinGroup"):
            seen = len(step.answers)
            looked = self.stage.look(2)
            step.answers += self.stage.answers_now(self.grace)
        return looked

    def _resolved(self, step: Step) -> dict[str, Json] | None:
        """What is seen once regular expressions have been resolved, where a heartbeat may have asked for that."""
        if step.api != "ConsumerGroupHeartbeat":
            return None
        members = self.state.get(f"consumer group {step.body.get('group_id')}", {}).get("members", ())
        if not (step.body.get("subscribed_topic_regex") or any(one.get("subscribed_topic_regex") for one in members)):
            return None
        Event().wait(RESOLVED_FIRST_SECONDS if step.body.get("subscribed_topic_regex") else RESOLVING_SECONDS)
        return self.stage.look(2)

    def _done_behind(self, step: Step) -> dict[str, Json] | None:
        """What is seen once share groups have done what they do behind an answer; None for answers without that."""
        if not self.stage.share_groups or step.api not in BEHIND:
            return None
        deadline = time.monotonic() + INITIALISED_SECONDS
        while True:
            Event().wait(BEHIND_SECONDS)
            looked = self.stage.look(2)
            if self.stage.is_initialised(looked, step.body.get("group_id")) or time.monotonic() > deadline:
                break
        step.answers += self.stage.answers_now()
        return looked

    def _made(self, step: Step) -> dict[str, Json] | None:
        """What is seen once the broker has made the topics that a topology wants; None where it wants none."""
        if step.api != "StreamsGroupHeartbeat":
            return None
        looked = self.stage.look()
        deadline = time.monotonic() + MADE_SECONDS
        while wants_topics(looked, step.body.get("group_id")) and "are missing" in str(step.answers):
            if time.monotonic() > deadline:
                break
            Event().wait(BEHIND_SECONDS)
            looked = self.stage.look()
        return looked

    def _settled(self, looked: dict[str, Json]) -> dict[str, Json]:
        """What is seen once a rebalance that has just lost its last member has ended.

        Where a member id is still out, that is done by a timer of 0 ms, or by one that has long to go.
        """
        deadline = time.monotonic() + SETTLING_SECONDS
        while any(map(self._has_just_emptied, looked, looked.values())) and time.monotonic() < deadline:
            looked = self.stage.look()
        return looked

    def _has_just_emptied(self, group: str, shown: Json) -> bool:
        rebalancing = shown.get("group_state") == "PreparingRebalance"
        return rebalancing and "members" not in shown and self.state.get(group) != shown

    def _record(self, step: Step, looked: dict[str, Json]) -> None:
        looked = self._settled(looked)
        step.answers.sort(key=lambda answer: answer[0])
        step.state = {group: shown for group, shown in looked.items() if self.state.get(group) != shown}
        self.state = looked
        step.frames = self.stage.touched
        self.stage.touched = []
        self.scenario.steps.append(step)


def _has_failed(answer: tuple[str, Json]) -> bool:
    """Whether a request that changes the cluster has changed nothing: everything in the answer is an error."""
    if answer[1].get("error_code"):
        return True
    parts = [part for value in answer[1].values() if isinstance(value, list) for part in value]
    return bool(parts) and all(part.get("error_code") for part in parts)


def _may_park(step: Step) -> bool:
    return step.api in PARKING and (step.api not in WAITING or step.body.get("max_wait_ms", 0) >= PARKED_MS)


def await_state(stage: Stage, wanted: dict[str, str]) -> dict[str, Json]:
    """Look until every group of `wanted` is in its state, or the deadline has passed; what was seen last."""
    deadline = time.monotonic() + stage.broker.answer_seconds
    while True:
        looked = stage.look(2)
        reached = all(looked.get(group, {}).get("group_state") == state for group, state in wanted.items())
        if reached or time.monotonic() > deadline:
            return looked
