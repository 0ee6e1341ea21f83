"""What administrators do among the random groups of newer kinds: to topics of the scenario's own, and to groups."""

from __future__ import annotations

from typing import ClassVar

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.data_place import Places
from kafkastub_conformance.differential.script import GROUPS, OWN
from kafkastub_conformance.differential.stage import GROUP

SET, DELETE = 0, 1


class Managing(Places):
    """Adds administrators."""

    MOST_PARTITIONS: ClassVar = 4
    """Of a topic that is created."""

    # Topics.

    def create_topic(self) -> None:
        """One that some members may read already."""
        gone = [name for name in OWN if name not in self.topics]
        if not gone:
            return
        name, count = self.pick(gone), self.random.randint(1, self.MOST_PARTITIONS)
        topic = {"name": name, "num_partitions": count, "replication_factor": 1}
        body = {"topics": [topic], "timeout_ms": 30000}
        # No version that tells the topic's configuration: the brokers' own ones may differ.
        answer = self.play.ask("a1", "CreateTopics", self.newest("CreateTopics", 4), body, settle=True)
        if answer and "error_code" not in str(answer):
            self.topics[name] = count
            self.play.ask("a1", "Metadata", self.newest("Metadata", 12), {"topics": [{"name": name}]})

    def grow_topic(self) -> None:
        """One partition more."""
        topic = self._changeable()
        if topic:
            name, count = topic[0], topic[1] + 1
            body = {"topics": [{"name": name, "count": count, "assignments": None}], "timeout_ms": 30000}
            answer = self.play.ask("a1", "CreatePartitions", self.newest("CreatePartitions", 3), body, settle=True)
            if answer and "error_code" not in str(answer) and name in self.topics:
                self.topics[name] = count

    def delete_topic(self) -> None:
        """One that members may have."""
        topic = self._changeable()
        if topic:
            self._delete_topic(topic[0])

    def _delete_topic(self, name: str) -> bool:
        """Whether it is gone."""
        body = {"topic_names": [name], "timeout_ms": 30000}
        answer = self.play.ask("a1", "DeleteTopics", self.newest("DeleteTopics", 5), body, settle=True)
        gone = bool(answer) and "error_code" not in str(answer)
        if gone:
            self.topics.pop(name, None)
        return gone

    def _changeable(self) -> tuple[str, int] | None:
        """A topic that may grow or go, and its partitions."""
        return self.pick(list(self.topics.items())) if self.topics else None

    # Groups.

    def delete_groups(self) -> list[str]:
        """Of groups with and without members; gives those that were asked for."""
        some = self.random.choices((*GROUPS, "<p>none"), k=self.pick((1, 1, 2)))
        verbs.delete_groups(self.play, "a1", *some, version=self.version("DeleteGroups"))
        return some

    def describe_configs(self) -> None:
        """A group's own configuration."""
        asked = [{"resource_type": GROUP, "resource_name": self.pick(GROUPS), "configuration_keys": None}]
        self.play.ask("a1", "DescribeConfigs", self.version("DescribeConfigs", 1), {"resources": asked})

    def _configure(self, group: str, key: str, value: str | None) -> None:
        config = {"name": key, "config_operation": DELETE if value is None else SET, "value": value}
        resource = {"resource_type": GROUP, "resource_name": group, "configs": [config]}
        version = self.version("IncrementalAlterConfigs")
        self.play.ask("a1", "IncrementalAlterConfigs", version, {"resources": [resource]}, settle=True)
