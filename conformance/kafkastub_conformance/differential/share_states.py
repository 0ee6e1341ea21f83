"""The administrators' half of the random share groups: offsets, and the states that brokers keep among themselves."""

from __future__ import annotations

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.script import GROUPS
from kafkastub_conformance.differential.share_acknowledging import Place
from kafkastub_conformance.differential.share_fetches import ShareFetches

T1_PARTITIONS = 3


class ShareStates(ShareFetches):
    """Adds what is asked about offsets and states.

    Left out: DescribeShareGroupOffsets of a partition that a topic does not have, which Kafka never answers; a batch of
    state whose last offset is before its first one, which Kafka keeps or fails at, by what else there is.
    """

    def describe_offsets(self) -> None:
        """DescribeShareGroupOffsets of everything, or of topics by name."""
        asked: list[Json] = []
        for group in self.random.sample((*GROUPS, "<p>none"), self.pick((1, 1, 2))):
            topics: list[Json] | None = None
            if self.chance(0.6):
                places = self.random.sample(self._known_places(), self.pick((0, 1, 2)))
                topics = [{"topic_name": topic, "partitions": [partition]} for topic, partition in dict(places).items()]
                if self.chance(0.2):
                    topics.append({"topic_name": "<p>nope", "partitions": [0, 3]})
            asked.append({"group_id": group, "topics": topics})
        version = self.version("DescribeShareGroupOffsets")
        self.play.ask("a1", "DescribeShareGroupOffsets", version, {"groups": asked})

    def alter_offsets(self) -> None:
        """AlterShareGroupOffsets; only a group without members lets it."""
        group = self.pick((*self._empty_ones(), *self._empty_ones(), *GROUPS))
        topics: list[Json] = []
        for topic, partition in self.random.sample(self._known_places(), self.pick((1, 1, 2, 0))):
            end = self.ends.get((topic, partition), 0)
            offset = self.pick((0, 1, end // 2, end, end + 5, -1, -7))
            row = {"partition_index": self.pick((*[partition] * 9, 9)), "start_offset": offset}
            same = [one for one in topics if one["topic_name"] == topic]
            if same:
                same[0]["partitions"].append(row)
            else:
                topics.append({"topic_name": topic, "partitions": [row]})
        if self.chance(0.1):
            topics.append({"topic_name": "<p>nope", "partitions": [{"partition_index": 0, "start_offset": 0}]})
        body = {"group_id": group, "topics": topics}
        self.play.ask("a1", "AlterShareGroupOffsets", self.version("AlterShareGroupOffsets"), body)
        self.cool(group)

    def delete_offsets(self) -> None:
        """DeleteShareGroupOffsets; only a group without members lets it."""
        group = self.pick((*self._empty_ones(), *self._empty_ones(), *GROUPS, "<p>none"))
        names = self.random.choices((*self.topics, "t1", "<p>nope"), k=self.pick((1, 1, 2)))
        body = {"group_id": group, "topics": [{"topic_name": name} for name in names]}
        self.play.ask("a1", "DeleteShareGroupOffsets", self.version("DeleteShareGroupOffsets"), body)
        self.cool(group)

    def ask_states(self) -> None:
        """What brokers ask the share coordinator, at epochs right and wrong. Not for guests."""
        api = self.pick(
            (
                "ReadShareGroupState",
                "ReadShareGroupStateSummary",
                "WriteShareGroupState",
                "InitializeShareGroupState",
                "DeleteShareGroupState",
            )
        )
        group, place = self.pick((*GROUPS, "<p>none")), self.pick([*self._known_places(), ("<p>nope", 0)])
        row = {"partition": self.pick((*[place[1]] * 9, 9, -1))} | self._said_of_state(api, group, place)
        topic_id = verbs.topic_id(place[0]) if place[0] != "<p>nope" else self.pick(("ab" * 16, "00" * 16))
        body = {
            "group_id": self.pick((*[group] * 9, "")),
            "topics": [{"topic_id": topic_id, "partitions": [row] * self.pick((1, 1, 1, 1, 0))}],
        }
        self.play.ask("a1", api, self.version(api), body)
        self.cool(group)

    def _said_of_state(self, api: str, group: str, place: Place) -> dict[str, Json]:
        """What a request says of a partition: mostly what would be right."""
        epoch = self._state_epoch(group, place)
        leader: dict[str, Json] = {"leader_epoch": self.pick((0, 0, 0, -1, 1))}
        if api in ("ReadShareGroupState", "ReadShareGroupStateSummary"):
            return leader
        if api == "DeleteShareGroupState":
            return {}
        started = {
            "state_epoch": self.pick((epoch, epoch, epoch + 1, epoch - 1, 0)),
            "start_offset": self.pick((0, 2, -1)),
        }
        if api == "InitializeShareGroupState":
            return started
        first = self.random.randint(0, 9)
        batches = [
            {
                "first_offset": first,
                "last_offset": first + self.pick((0, 3, 1)),
                "delivery_state": self.pick((0, 2, 4, 1, 9)),
                "delivery_count": self.pick((1, 2, 0, -1)),
            }
            for _ in range(self.pick((0, 1, 1, 2)))
        ]
        return started | leader | {"state_batches": batches, "delivery_complete_count": self.pick((0, 1))}

    def _state_epoch(self, group: str, place: Place) -> int:
        for topic in self.play.state.get(f"share state of {group}", {}).get("topics", ()):
            for one in topic["partitions"]:
                if (topic.get("topic_name"), one.get("partition_index", 0)) == place:
                    return int((one.get("summary") or {}).get("state_epoch", 0))
        return 0

    def _empty_ones(self) -> list[str]:
        return [
            group
            for group in GROUPS
            if self.play.state.get(f"share group {group}", {}).get("group_state") in ("Empty", "Dead")
        ]

    def _known_places(self) -> list[Place]:
        return [*self._all_places(), *(("t1", partition) for partition in range(T1_PARTITIONS))]
