"""UpdateFeatures, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkastub import KafkaStub
from kafkastub.state.leadership import node_started, node_stopped
from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.api_versions_request import ApiVersionsRequest
from kafkawire.messages.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafkawire.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from tests.handlers.in_process import BROKER_MS, InProcess
from tests.nodes.asking import ask

UPGRADE, SAFE, UNSAFE = 1, 2, 3
WHOLE = "The update failed for all features since the following feature had an error: "
ELIGIBLE = "eligible.leader.replicas.version"
NOW = BROKER_MS, 1000
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture
def broker() -> InProcess:
    return InProcess()


def request(*updates: tuple[str, int, int], validate_only: bool = False) -> UpdateFeaturesRequest:
    keys = [FeatureUpdateKey(name, level, upgrade_type=kind) for name, level, kind in updates]
    return UpdateFeaturesRequest(60_000, keys, validate_only)


def update(broker: InProcess, *updates: tuple[str, int, int], version: int = 2, validate_only: bool = False) -> Any:
    answer = broker.ask(request(*updates, validate_only=validate_only), version)
    results = [(one.feature, one.error_code, one.error_message) for one in answer.results]
    return answer.error_code, answer.error_message, results


def refusal(broker: InProcess, *updates: tuple[str, int, int], version: int = 2) -> str:
    code, text, results = update(broker, *updates, version=version)
    assert (code, results) == (ErrorCode.INVALID_UPDATE_VERSION, [])
    assert text.startswith(WHOLE)
    return str(text.removeprefix(WHOLE))


def told(broker: InProcess) -> dict[str, int]:
    answer = broker.ask(VERSIONS, 4)
    assert all(one.min_version_level == one.max_version_level for one in answer.finalized_features)
    return {one.name: one.max_version_level for one in answer.finalized_features}


def epoch(broker: InProcess) -> int:
    return int(broker.ask(VERSIONS, 4).finalized_features_epoch)


@pytest.mark.behaviour("UF-1", "AV-4")
def test_levels_are_told_from_the_answer_on(broker: InProcess):
    before, first = told(broker), epoch(broker)
    assert update(broker, ("share.version", 1, SAFE), ("group.version", 0, UNSAFE)) == (ErrorCode.NONE, None, [])
    without = {name: level for name, level in before.items() if name != "group.version"}
    assert told(broker) == {**without, "share.version": 1}
    assert epoch(broker) == first + 1
    update(broker, ("share.version", 2, UPGRADE), ("group.version", 1, UPGRADE))
    assert told(broker) == before


@pytest.mark.behaviour("UF-1", "QU-1")
@pytest.mark.parametrize("level", [0, 1])
def test_levels_outlive_the_process(tmp_path: Path, level: int):
    quorum = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    with KafkaStub(data_dir=tmp_path / "data") as stub:
        ask(stub.bootstrap_servers, request(("share.version", level, SAFE)), 2)
        before = ask(stub.bootstrap_servers, VERSIONS, 4)
        voted = ask(stub.bootstrap_servers, quorum, 2).topics[0].partitions[0]
    for start in (1, 2):
        with KafkaStub(data_dir=tmp_path / "data") as stub:
            after = ask(stub.bootstrap_servers, VERSIONS, 4)
            again = ask(stub.bootstrap_servers, quorum, 2).topics[0].partitions[0]
        assert after.finalized_features == before.finalized_features
        assert after.finalized_features_epoch >= before.finalized_features_epoch
        assert again.leader_epoch == voted.leader_epoch + start
        ids = [one.current_voters[0].replica_directory_id for one in (voted, again)]
        assert ids[0] == ids[1]


@pytest.mark.behaviour("UF-2")
@pytest.mark.parametrize("version", range(3))
def test_one_refusal_refuses_all(broker: InProcess, version: int):
    before = told(broker)
    updates = [("transaction.version", 9, UPGRADE), ("group.version", 1, UPGRADE), ("group.version", 9, UPGRADE)]
    text = refusal(broker, ("no.such", 1, UPGRADE), *updates, version=version)
    assert text == "Invalid update version 9 for feature group.version. Local controller 1 only supports versions 0-1"
    assert told(broker) == before
    answer = update(broker, ("group.version", 1, UPGRADE), ("group.version", 1, UPGRADE), version=version)
    named = [("group.version", ErrorCode.NONE, "NONE")] * 2
    assert answer == (ErrorCode.NONE, None, named if version <= 1 else [])
    assert update(broker, version=version) == (ErrorCode.NONE, None, [])


@pytest.mark.behaviour("UF-3")
@pytest.mark.parametrize(
    ("name", "level", "kind", "why"),
    [
        ("share.version", -1, 0, "The controller does not support the given upgrade type."),
        ("share.version", 2, 4, "The controller does not support the given upgrade type."),
        ("share.version", -1, UPGRADE, "A feature version cannot be less than 0."),
        ("share.version", 3, SAFE, "Local controller 1 only supports versions 0-2"),
        ("", 1, UPGRADE, "Local controller 1 does not support this feature."),
        ("no.such", 0, UPGRADE, "Feature no.such not found."),
        ("metadata.version", 6, SAFE, "Local controller 1 only supports versions 7-33"),
        (
            "share.version",
            1,
            UPGRADE,
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade.",
        ),
    ],
)
def test_what_is_refused(broker: InProcess, name: str, level: int, kind: int, why: str):
    assert refusal(broker, (name, level, kind)) == f"Invalid update version {level} for feature {name}. {why}"


@pytest.mark.behaviour("UF-3")
def test_nothing_goes_up_by_a_downgrade(broker: InProcess):
    update(broker, ("share.version", 0, SAFE))
    why = "Invalid update version 1 for feature share.version. Can't downgrade to a newer version."
    assert refusal(broker, ("share.version", 1, UNSAFE)) == why


@pytest.mark.behaviour("UF-4")
def test_some_features_do_not_go_down(broker: InProcess):
    why = "Unsupported metadata.version downgrade from 33 to 32. "
    why_safe = "Refusing to perform the requested downgrade because it might delete metadata information."
    assert refusal(broker, ("metadata.version", 32, SAFE)) == why + why_safe
    why_unsafe = "Unsafe metadata downgrade is not supported in this version."
    assert refusal(broker, ("metadata.version", 32, UNSAFE)) == why + why_unsafe
    why = "Invalid update version 0 for feature kraft.version. Can't downgrade the version of this feature."
    assert refusal(broker, ("kraft.version", 0, UNSAFE)) == why


@pytest.mark.behaviour("UF-4")
def test_metadata_goes_as_far_down_as_nothing_is_lost():
    broker = InProcess({"kafkastub.as.version": "4.2"})
    assert refusal(broker, ("metadata.version", 22, SAFE)).startswith("Unsupported metadata.version downgrade from 29 ")
    update(broker, ("metadata.version", 23, SAFE))
    assert told(broker)["metadata.version"] == 23


@pytest.mark.behaviour("UF-4")
def test_a_level_needs_what_it_depends_on(broker: InProcess):
    why = "group.version could not be set to 1 because it depends on metadata.version=7 (3.3-IV3)"
    asked = ("group.version", 1, UPGRADE), ("metadata.version", 6, SAFE)
    assert refusal(broker, *asked) == f"Invalid update version 1 for feature group.version. {why}"


@pytest.mark.behaviour("UF-5")
def test_a_dry_run_changes_nothing(broker: InProcess):
    before, first = told(broker), epoch(broker)
    for version in (1, 2):
        answer = update(broker, ("share.version", 0, SAFE), version=version, validate_only=True)
        assert answer[:2] == (ErrorCode.NONE, None)
    assert (told(broker), epoch(broker)) == (before, first)
    allowed = UpdateFeaturesRequest(60_000, [FeatureUpdateKey("share.version", 1, allow_downgrade=True)])
    assert broker.ask(allowed, 0).error_code == ErrorCode.INVALID_UPDATE_VERSION


@pytest.mark.behaviour("UF-6")
def test_the_last_of_two_counts(broker: InProcess):
    update(broker, ("share.version", 9, 9), ("share.version", 1, SAFE))
    assert told(broker)["share.version"] == 1


def minimum(broker: InProcess, name: str, operation: int, value: str | None) -> int:
    change = AlterableConfig("min.insync.replicas", operation, value)
    answer = broker.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(4, name, [change])]))
    return int(answer.responses[0].error_code)


@pytest.mark.behaviour("UF-7")
def test_without_eligible_replicas_the_last_in_sync_stays(broker: InProcess):
    broker = InProcess({"min.insync.replicas": 2, "default.replication.factor": 2}, nodes=2)
    update(broker, (ELIGIBLE, 0, SAFE))
    topic = create_topic(broker.state, "a", 1, 2)
    (partition,) = topic.partitions
    first, second = partition.replicas
    node_stopped(broker.state, second, NOW)
    node_stopped(broker.state, first, NOW)
    assert (partition.leader, partition.isr, partition.elr, partition.last_leader) == (-1, [first], [], [])
    node_started(broker.state, second, NOW)
    assert (partition.leader, partition.isr) == (-1, [first])
    node_started(broker.state, first, NOW)
    assert (partition.leader, sorted(partition.isr)) == (first, [1, 2])


@pytest.mark.behaviour("UF-7")
def test_brokers_have_a_minimum_of_their_own_without_eligible_replicas(broker: InProcess):
    assert minimum(broker, "1", 0, "2") == minimum(broker, "", 1, None) == ErrorCode.INVALID_CONFIG
    update(broker, (ELIGIBLE, 0, SAFE))
    assert minimum(broker, "1", 0, "2") == minimum(broker, "", 1, None) == ErrorCode.NONE
    config = broker.state.config
    assert (config.dynamic_broker, config.dynamic_default) == ({"min.insync.replicas": "2"}, {})
    update(broker, (ELIGIBLE, 1, UPGRADE))
    assert (config.dynamic_broker, config.dynamic_default) == ({}, {"min.insync.replicas": "1"})


@pytest.mark.behaviour("UF-8")
def test_an_older_broker_has_a_result_for_each_feature():
    broker = InProcess({"kafkastub.as.version": "3.9"})
    code, _, results = update(broker, ("no.such", 1, UPGRADE), ("metadata.version", 20, SAFE), version=1)
    assert code == ErrorCode.NONE
    why = "Invalid update version 1 for feature no.such. Local controller 1 does not support this feature."
    assert results == [
        ("metadata.version", ErrorCode.NONE, None),
        ("no.such", ErrorCode.INVALID_UPDATE_VERSION, why),
    ]
    assert told(broker)["metadata.version"] == 20


KRAFT_1 = "Invalid update version 1 for feature kraft.version."


@pytest.mark.behaviour("UF-8")
@pytest.mark.parametrize(
    ("name", "level", "kind", "why"),
    [
        ("no.such", 0, UPGRADE, None),
        ("share.version", 0, SAFE, None),
        ("kraft.version", 0, SAFE, None),
        ("kraft.version", 1, SAFE, f"{KRAFT_1} Can't downgrade to a newer version."),
        ("metadata.version", 3, SAFE, "Invalid metadata.version 3. Unable to set a metadata.version less than 3.3-IV0"),
    ],
)
def test_what_controllers_before_4_0_make_of_levels(name: str, level: int, kind: int, why: str | None):
    """They know no level of kraft.version, and 0 is one that any feature has."""
    broker = InProcess({"kafkastub.as.version": "3.9"})
    before = told(broker)
    code, _, results = update(broker, (name, level, kind), version=1)
    refused = ErrorCode.NONE if why is None else ErrorCode.INVALID_UPDATE_VERSION
    assert (code, results) == (ErrorCode.NONE, [(name, refused, why)])
    assert told(broker) == before
