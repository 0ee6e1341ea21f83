"""The fetching half of the random data plane: plain fetches, sessions, long polls.

Left out: topic ids of zeros, with which Kafka fails the whole request at times (NullPointerException, FetchResponse).
"""

from __future__ import annotations

import random

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.play import PARKED_MS, Play

ENOUGH = 200_000
TOPIC_IDS_FROM = 13


class Session:
    """A fetch session as its client sees it."""

    def __init__(self, session_id: str, version: int) -> None:
        self.session_id = session_id
        self.version = version
        self.epoch = 1


class Fetches(Places):
    """Adds fetching."""

    def __init__(self, play: Play, source: random.Random) -> None:
        super().__init__(play, source)
        self.sessions: list[Session] = []

    def fetch(self) -> None:
        """Without a session: from anywhere, under any limit."""
        body = self._limits() | {"session_epoch": self.pick((-1, -1, 0)), "topics": self._topics()}
        version = self.version("Fetch", 4)
        self._learn(self.play.ask("c1", "Fetch", version, body), version)

    def fetch_in_session(self) -> None:
        """The next request of a session: news, a partition more, one forgotten; or a wrong one."""
        if not self.sessions:
            body = self._limits() | {"session_epoch": 0, "topics": self._topics()}
            version = self.version("Fetch", 7)
            self._learn(self.play.ask("c1", "Fetch", version, body), version)
            return
        session = self.pick(self.sessions)
        epoch, version = session.epoch, session.version
        if self.chance(0.08):
            epoch = self.pick((epoch + 1, 0, -1, -2, 77))
        if self.chance(0.08):
            version = self.version("Fetch", 7)
        topics = self._topics() if self.chance(0.4) else []
        body = self._limits() | {
            "session_id": session.session_id if self.chance(0.97) else 12345,
            "session_epoch": epoch,
            "topics": topics,
            "forgotten_topics_data": self._forgotten() if self.chance(0.15) else [],
        }
        answer = self.play.ask("c1", "Fetch", version, body)
        if not answer or answer.get("error_code") or answer.get("session_id") != session.session_id:
            self.sessions.remove(session)
            if answer and answer.get("error_code") and epoch not in (0, -1):
                self.sessions.append(session)
            self._learn(answer, version)
        else:
            session.epoch += 1

    def fetch_and_wait(self) -> None:
        """A long poll at the end of a log: something else will release it, or nothing."""
        on = self.pick(("w1", "w2"))
        if self.play.stage.waits(on) or not self.topics:
            return
        topic = self.pick(list(self.topics))
        end = self.ends.get((topic, 0), 0)
        asked = {"partition": 0, "fetch_offset": end, "current_leader_epoch": -1, "partition_max_bytes": ENOUGH}
        topics = [{"topic": topic, "topic_id": self.topic_id(topic, may_be_zero=False), "partitions": [asked]}]
        body = {
            "max_wait_ms": 6 * PARKED_MS,
            "min_bytes": self.pick((1, 1, 200)),
            "max_bytes": ENOUGH,
            "session_epoch": -1,
            "topics": topics,
        }
        self.play.ask(on, "Fetch", self.version("Fetch", 4), body)

    def end_sessions(self) -> None:
        """A broker holds a thousand of them, and other scenarios want some."""
        for session in self.sessions:
            body = {"session_id": session.session_id, "session_epoch": -1, "topics": []}
            self.play.ask("c1", "Fetch", session.version, body)

    def _learn(self, answer: Json, version: int) -> None:
        known = {session.session_id for session in self.sessions}
        if answer and str(answer.get("session_id", "")).startswith("<") and answer["session_id"] not in known:
            self.sessions.append(Session(answer["session_id"], version))

    def _limits(self) -> dict[str, Json]:
        return {
            "max_wait_ms": self.pick((0, 0, 0, 1)),
            "min_bytes": self.pick((0, 0, 1, 1000)),
            "max_bytes": self.pick((ENOUGH, ENOUGH, ENOUGH, 0, 1, 100, 300, 1000, 3000)),
            "isolation_level": self.pick((0, 0, 0, 1)),
            "replica_id": -1,
        }

    def _topics(self) -> list[Json]:
        topics: list[Json] = []
        for _ in range(self.random.randint(1, 3)):
            topic, _ = self.place()
            places = [self.partition(topic) for _ in range(self.random.randint(1, 3))]
            partitions = [self._asked(topic, index) for index in dict.fromkeys(places)]
            if topic not in [one["topic"] for one in topics]:
                topics.append(
                    {"topic": topic, "topic_id": self.topic_id(topic, may_be_zero=False), "partitions": partitions}
                )
        return topics

    def _asked(self, topic: str, index: int) -> Json:
        end = self.ends.get((topic, index), 0)
        recompressed = topic.startswith("<p>recompressed")
        return {
            "partition": index,
            "current_leader_epoch": self.pick((-1, -1, -1, 0, 0, 1)),
            "fetch_offset": self.pick((0, 0, end, end, end + 1, -1, self.random.randint(0, end), 10**6)),
            "last_fetched_epoch": self.pick((-1, -1, -1, 0, 1)),
            "log_start_offset": -1,
            # Where sizes differ, so does what fits.
            "partition_max_bytes": ENOUGH if recompressed else self.pick((ENOUGH, ENOUGH, 0, 1, 61, 100, 300, 1000)),
        }

    def _forgotten(self) -> list[Json]:
        topic, partition = self.place()
        return [{"topic": topic, "topic_id": self.topic_id(topic, may_be_zero=False), "partitions": [partition]}]
