"""Configuration that cannot be, by AlterConfigs and IncrementalAlterConfigs; requests about nothing."""

from __future__ import annotations

from kafkastub_conformance.broker import Broker
from kafkastub_conformance.cases.admin import ALTERING, BROKER, SET, TOPIC, alter, describe, incremental, setting
from kafkastub_conformance.expecting import NOT_EMPTY, expect, expect_that
from kafkastub_conformance.registry import case
from kafkawire.errors import ErrorCode as E

UNKNOWN = 3
"""No type of resource has this number."""


@case("AlterConfigs", "A type of resource that does not exist: INVALID_REQUEST.", source=ALTERING)
def alter_unknown_type(on: Broker) -> None:
    row = {"resource_type": UNKNOWN, "resource_name": "x", "configs": []}
    expect(on.ask("AlterConfigs", resources=[row]), responses=[{"error_code": E.INVALID_REQUEST}])


@case("AlterConfigs", "A broker's setting that is not dynamic: INVALID_REQUEST.", source="Kafka: DynamicBrokerConfig")
def alter_not_dynamic(on: Broker) -> None:
    configs = [{"name": "offsets.retention.minutes", "value": "77"}]
    row = {"resource_type": BROKER, "resource_name": str(on.cluster.node_id), "configs": configs}
    answer = on.ask("AlterConfigs", resources=[row], validate_only=True)
    expect(answer, responses=[{"error_code": E.INVALID_REQUEST, "resource_type": BROKER}])


@case("AlterConfigs", "A refused topic does not disturb its neighbour.", source=ALTERING)
def alter_neighbours(on: Broker) -> None:
    good, bad = on.topic(), on.some_topic()
    rows = [
        {"resource_type": TOPIC, "resource_name": topic.name, "configs": [{"name": "retention.ms", "value": value}]}
        for topic, value in ((bad, "x"), (good, "7000"))
    ]
    answer = on.ask("AlterConfigs", resources=rows)
    codes = {row.resource_name: row.error_code for row in answer.responses}
    expect_that("the error codes", codes, {bad.name: E.INVALID_CONFIG, good.name: E.NONE})
    on.in_time(lambda: bool(setting(on, good, "retention.ms") == "7000"))
    expect_that("retention.ms", setting(on, good, "retention.ms"), "7000")


@case("AlterConfigs", "No settings take every override away; no resources is an empty answer.", source="KIP-133")
def alter_to_nothing(on: Broker) -> None:
    topic = on.topic(retention_ms="5000")
    expect(alter(on, topic.name), responses=[{"error_code": E.NONE}])
    on.in_time(lambda: bool(setting(on, topic, "retention.ms") != "5000"))
    expect_that("whether retention.ms is still 5000", setting(on, topic, "retention.ms") == "5000", False)
    expect(on.ask("AlterConfigs", resources=[]), responses=[])


@case("IncrementalAlterConfigs", "A type of resource that does not exist: INVALID_REQUEST.", source=ALTERING)
def incremental_unknown_type(on: Broker) -> None:
    answer = incremental(on, "x", ("retention.ms", SET, "1"), kind=UNKNOWN)
    expect(answer, responses=[{"error_code": E.INVALID_REQUEST, "error_message": NOT_EMPTY}])


@case("IncrementalAlterConfigs", "A refused topic does not disturb its neighbour.", source=ALTERING)
def incremental_neighbours(on: Broker) -> None:
    good, bad = on.topic(), on.some_topic()
    rows = [
        {
            "resource_type": TOPIC,
            "resource_name": topic.name,
            "configs": [{"name": "retention.ms", "config_operation": SET, "value": value}],
        }
        for topic, value in ((bad, "x"), (good, "7000"))
    ]
    answer = on.ask("IncrementalAlterConfigs", resources=rows)
    codes = {row.resource_name: row.error_code for row in answer.responses}
    expect_that("the error codes", codes, {bad.name: E.INVALID_CONFIG, good.name: E.NONE})


@case("IncrementalAlterConfigs", "No resources is an empty answer.", source=ALTERING)
def incremental_nothing(on: Broker) -> None:
    expect(on.ask("IncrementalAlterConfigs", resources=[]), responses=[])


@case("DescribeConfigs", "No resources is an empty answer; no keys is no settings.", source="Kafka: ConfigHelper")
def describe_nothing(on: Broker) -> None:
    expect(describe(on), results=[])
    expect(describe(on, (TOPIC, on.some_topic().name), keys=[]), results=[{"error_code": E.NONE}])


@case("DescribeConfigs", "Documentation comes where asked for.", source="KIP-569", versions=(3, 4))
def documented(on: Broker) -> None:
    for asked, text in ((True, NOT_EMPTY), (False, None)):
        answer = describe(on, (TOPIC, on.some_topic().name), keys=["retention.ms"], include_documentation=asked)
        expect(answer, results=[{"configs": [{"name": "retention.ms", "documentation": text}]}])


@case("CreatePartitions", "No topics is an empty answer.", source="Kafka: ReplicationControlManager.createPartitions")
def grow_nothing(on: Broker) -> None:
    expect(on.ask("CreatePartitions", topics=[], timeout_ms=10000), results=[])


@case("DeleteTopics", "No topics is an empty answer.", source="Kafka: ControllerApis.deleteTopics")
def delete_nothing(on: Broker) -> None:
    expect(on.ask("DeleteTopics", topics=[], topic_names=[], timeout_ms=10000), responses=[])


@case("DeleteTopics", "A missing topic does not disturb its neighbour.", source="Kafka: ControllerApis.deleteTopics")
def delete_neighbours(on: Broker) -> None:
    topic, missing = on.topic(), on.name()
    names = [missing, topic.name]
    answer = on.ask("DeleteTopics", topics=[{"name": name} for name in names], topic_names=names, timeout_ms=10000)
    codes = {row.name: row.error_code for row in answer.responses}
    expect_that("the error codes", codes, {missing: E.UNKNOWN_TOPIC_OR_PARTITION, topic.name: E.NONE})


@case("FindCoordinator", "A transactional id has a coordinator.", source="KIP-98", versions=(1, 6))
def of_transactions(on: Broker) -> None:
    name = on.cluster.transactional_id()
    answer = on.ask("FindCoordinator", key=name, key_type=1, coordinator_keys=[name])
    row = {"error_code": E.NONE, "node_id": on.cluster.node_id}
    if on.version >= 4:
        expect(answer, coordinators=[row | {"key": name}])
    else:
        expect(answer, **row)


@case("FindCoordinator", 'The group "" has a coordinator like others.', source="KIP-289")
def of_the_empty_group(on: Broker) -> None:
    answer = on.ask("FindCoordinator", key="", coordinator_keys=[""])
    found = answer.coordinators[0] if on.version >= 4 else answer
    expect_that("the error code", found.error_code, E.NONE)


@case("FindCoordinator", "A key named twice is answered twice.", source="KIP-699", versions=(4, 6))
def key_twice(on: Broker) -> None:
    group = on.group()
    row = {"key": group, "error_code": E.NONE, "node_id": on.cluster.node_id}
    expect(on.ask("FindCoordinator", coordinator_keys=[group, group]), coordinators=[row, row])


@case("ListGroups", "States and types together: what fits both.", source="KIP-518, KIP-848", versions=(5, 5))
def states_and_types(on: Broker) -> None:
    member = on.member()
    for states, types, listed in (
        (["Stable"], ["classic"], True),
        (["Empty"], ["classic"], False),
        (["Stable"], ["share"], False),
    ):
        answer = on.ask("ListGroups", states_filter=states, types_filter=types)
        names = {one.group_id for one in answer.groups}
        expect_that(f"whether it is listed for {states} and {types}", member.group in names, listed)
