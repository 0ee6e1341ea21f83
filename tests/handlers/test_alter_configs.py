"""AlterConfigs and IncrementalAlterConfigs: what changes, at once, and what does not."""

from __future__ import annotations

import pytest

import kafkawire.messages.alter_configs_request as legacy
import kafkawire.messages.incremental_alter_configs_request as incremental
from kafkastub.metadata.loggers import LOGGERS
from kafkastub.state.topics import create_topic
from kafkawire.errors import ErrorCode
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from tests.handlers.in_process import InProcess
from tests.handlers.topic_scenario import (
    APPEND,
    BROKER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    LOGGER,
    SET,
    SUBTRACT,
    TOPIC,
)


@pytest.fixture
def broker() -> InProcess:
    broker = InProcess()
    create_topic(broker.state, "a", configs={"retention.ms": "5"})
    return broker


def alter(
    broker: InProcess, kind: int, name: str, *changes: tuple[str, int, str | None], version: int = 1, **options: bool
) -> int:
    configs = [
        incremental.AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in changes
    ]
    resource = incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = incremental.IncrementalAlterConfigsRequest(resources=[resource], **options)
    (response,) = broker.ask(request, version).responses
    return int(response.error_code)


def replace(
    broker: InProcess, kind: int, name: str, *values: tuple[str, str | None], version: int = 2, **options: bool
) -> int:
    configs = [legacy.AlterableConfig(name=key, value=value) for key, value in values]
    resource = legacy.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    (response,) = broker.ask(legacy.AlterConfigsRequest(resources=[resource], **options), version).responses
    return int(response.error_code)


def overrides(broker: InProcess) -> dict[str, str]:
    return broker.state.cluster.topics["a"].configs


def max_message_bytes(broker: InProcess) -> int:
    log = broker.state.logs.log(broker.state.cluster.topics["a"].topic_id, 0)
    assert log is not None
    return log.settings.max_message_bytes


@pytest.mark.behaviour("IA-1")
@pytest.mark.parametrize("version", [0, 1])
def test_set_and_delete(broker: InProcess, version: int):
    changes = (("max.message.bytes", SET, "99"), ("retention.ms", DELETE, None))
    assert alter(broker, TOPIC, "a", *changes, version=version) == ErrorCode.NONE
    assert overrides(broker) == {"max.message.bytes": "99"}
    assert max_message_bytes(broker) == 99


@pytest.mark.behaviour("IA-2")
def test_append_and_subtract(broker: InProcess):
    assert alter(broker, TOPIC, "a", ("cleanup.policy", APPEND, "compact")) == ErrorCode.NONE
    assert overrides(broker)["cleanup.policy"] == "delete,compact"
    assert alter(broker, TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete")) == ErrorCode.NONE
    assert overrides(broker)["cleanup.policy"] == "compact"
    assert alter(broker, TOPIC, "a", ("retention.ms", APPEND, "5")) == ErrorCode.INVALID_CONFIG


@pytest.mark.behaviour("IA-3")
def test_a_refused_value_changes_nothing_of_the_resource(broker: InProcess):
    changes = (("retention.ms", SET, "7"), ("segment.ms", SET, "0"))
    assert alter(broker, TOPIC, "a", *changes) == ErrorCode.INVALID_CONFIG
    assert overrides(broker) == {"retention.ms": "5"}


@pytest.mark.behaviour("IA-4", "AC-2")
def test_requests_that_make_no_sense(broker: InProcess):
    assert alter(broker, TOPIC, "a", ("retention.ms", SET, None)) == ErrorCode.INVALID_REQUEST
    assert replace(broker, TOPIC, "a", ("retention.ms", None)) == ErrorCode.INVALID_REQUEST
    assert alter(broker, TOPIC, "a", ("a", SET, "1"), ("a", SET, "2")) == ErrorCode.INVALID_REQUEST
    assert replace(broker, TOPIC, "a", ("a", "1"), ("a", "2")) == ErrorCode.INVALID_REQUEST
    assert alter(broker, 99, "a") == ErrorCode.INVALID_REQUEST
    assert replace(broker, LOGGER, "1", ("root", "INFO")) == ErrorCode.INVALID_REQUEST
    assert replace(broker, TOPIC, "a", ("nope", "1")) == ErrorCode.INVALID_CONFIG
    assert replace(broker, TOPIC, "nope") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert overrides(broker) == {"retention.ms": "5"}


@pytest.mark.behaviour("IA-4", "AC-2")
def test_a_resource_named_twice_is_refused_twice(broker: InProcess):
    one = incremental.AlterConfigsResource(resource_type=TOPIC, resource_name="a")
    answer = broker.ask(incremental.IncrementalAlterConfigsRequest(resources=[one, one]))
    assert [response.error_code for response in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2
    other = legacy.AlterConfigsResource(resource_type=TOPIC, resource_name="a")
    answer = broker.ask(legacy.AlterConfigsRequest(resources=[other, other]))
    assert [response.error_code for response in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2


@pytest.mark.behaviour("IA-5")
def test_topics_that_are_not_there(broker: InProcess):
    good, bad = ("retention.ms", SET, "5"), ("retention.ms", SET, "x")
    assert alter(broker, TOPIC, "nope", good) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert alter(broker, TOPIC, "nope", bad) == ErrorCode.INVALID_CONFIG
    assert alter(broker, TOPIC, "a/b", good) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert alter(broker, TOPIC, "", good) == ErrorCode.INVALID_REQUEST


@pytest.mark.behaviour("IA-6")
def test_what_is_set_for_a_broker_goes_before_what_is_set_for_all(broker: InProcess):
    assert alter(broker, BROKER, "", ("message.max.bytes", SET, "200")) == ErrorCode.NONE
    assert max_message_bytes(broker) == 200
    assert alter(broker, BROKER, "1", ("message.max.bytes", SET, "100")) == ErrorCode.NONE
    assert (max_message_bytes(broker), broker.state.config["message.max.bytes"]) == (100, 100)
    assert alter(broker, BROKER, "1", ("message.max.bytes", DELETE, None)) == ErrorCode.NONE
    assert max_message_bytes(broker) == 200
    assert alter(broker, BROKER, "", ("message.max.bytes", DELETE, None)) == ErrorCode.NONE
    assert max_message_bytes(broker) == 1048588


@pytest.mark.behaviour("IA-7")
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("1", "offsets.retention.minutes", "1"),
        ("", "offsets.retention.minutes", "1"),
        ("1", "ssl.keystore.location", "/x"),
        ("", "listeners", "PLAINTEXT://:1"),
        ("1", "log.retention.ms", "x"),
        ("1", "log.retention.ms", "0"),
        ("2", "log.retention.ms", "1"),
        ("x", "log.retention.ms", "1"),
    ],
)
def test_what_no_broker_takes(broker: InProcess, name: str, key: str, value: str):
    assert alter(broker, BROKER, name, (key, SET, value)) == ErrorCode.INVALID_REQUEST
    assert (broker.state.config["offsets.retention.minutes"], broker.state.config["log.retention.ms"]) == (10080, -1)


@pytest.mark.behaviour("IA-8", "AC-3")
def test_the_minimum_of_replicas_is_the_clusters(broker: InProcess):
    minimum = "min.insync.replicas"
    assert alter(broker, BROKER, "1", (minimum, SET, "2")) == ErrorCode.INVALID_CONFIG
    assert alter(broker, BROKER, "", (minimum, DELETE, None)) == ErrorCode.INVALID_CONFIG
    assert replace(broker, BROKER, "") == ErrorCode.INVALID_CONFIG
    assert alter(broker, BROKER, "", (minimum, SET, "2")) == ErrorCode.NONE
    assert broker.state.config[minimum] == 2


@pytest.mark.behaviour("IA-9")
def test_groups_and_client_metrics(broker: InProcess):
    session = "consumer.session.timeout.ms"
    assert alter(broker, GROUP, "g", (session, SET, "46000")) == ErrorCode.NONE
    assert alter(broker, GROUP, "g", (session, SET, "1")) == ErrorCode.INVALID_CONFIG
    assert broker.state.cluster.group_configs == {"g": {session: "46000"}}
    assert alter(broker, CLIENT_METRICS, "m", ("match", SET, "client_id=a.*")) == ErrorCode.NONE
    assert alter(broker, CLIENT_METRICS, "m", ("interval.ms", SET, "1")) == ErrorCode.INVALID_REQUEST
    assert broker.state.cluster.client_metrics_configs == {"m": {"match": "client_id=a.*"}}


@pytest.mark.behaviour("IA-13")
@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_assignment_intervals_of_the_broker_stay_within_its_bounds(kind: str):
    interval = f"group.{kind}.assignment.interval.ms"
    bounds = {f"group.{kind}.min.assignment.interval.ms": 100, f"group.{kind}.max.assignment.interval.ms": 2000}
    broker = InProcess(bounds)
    told = [alter(broker, BROKER, "", (interval, SET, value)) for value in ("99", "2001", "100")]
    assert told == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert broker.state.config[interval] == 100


@pytest.mark.behaviour("IA-10")
def test_the_root_logger(broker: InProcess):
    assert alter(broker, LOGGER, "1", ("root", SET, "DEBUG")) == ErrorCode.NONE
    assert broker.state.cluster.logger_levels == {"root": "DEBUG"}
    assert levels(broker) == dict.fromkeys(LOGGERS, "DEBUG")
    assert alter(broker, LOGGER, "1", ("root", SET, "LOUD")) == ErrorCode.INVALID_CONFIG
    assert alter(broker, LOGGER, "1", ("other", SET, "DEBUG")) == ErrorCode.INVALID_CONFIG
    assert alter(broker, LOGGER, "1", ("root", DELETE, None)) == ErrorCode.INVALID_REQUEST


CONTROLLER = "kafka.server.ControllerServer"


def levels(broker: InProcess) -> dict[str, str | None]:
    """Of all loggers."""
    answer = broker.ask(DescribeConfigsRequest([DescribeConfigsResource(LOGGER, "1", None)]))
    return {one.name: one.value for one in answer.results[0].configs}


@pytest.mark.behaviour("IA-10", "DC-10")
def test_a_logger_beside_the_root_logger(broker: InProcess):
    """Kafka's loggers were unknown here: INVALID_CONFIG, as for one that Kafka does not have."""
    before = levels(broker)
    assert before == dict.fromkeys(LOGGERS, "INFO")
    assert alter(broker, LOGGER, "1", (CONTROLLER, DELETE, None)) == ErrorCode.NONE
    assert alter(broker, LOGGER, "1", (CONTROLLER, SET, "LOUD")) == ErrorCode.INVALID_CONFIG
    assert alter(broker, LOGGER, "1", (CONTROLLER, SET, "WARN"), validate_only=True) == ErrorCode.NONE
    assert levels(broker) == before
    assert alter(broker, LOGGER, "1", (CONTROLLER, SET, "WARN"), ("root", SET, "ERROR")) == ErrorCode.NONE
    assert levels(broker) == dict.fromkeys(LOGGERS, "ERROR") | {CONTROLLER: "WARN"}
    assert alter(broker, LOGGER, "1", (CONTROLLER, DELETE, None), ("root", DELETE, None)) == ErrorCode.INVALID_REQUEST
    assert alter(broker, LOGGER, "1", (CONTROLLER, DELETE, "x")) == ErrorCode.NONE
    assert levels(broker) == dict.fromkeys(LOGGERS, "ERROR")


@pytest.mark.behaviour("IA-11", "AC-4")
def test_validation_changes_nothing(broker: InProcess):
    assert alter(broker, TOPIC, "a", ("retention.ms", SET, "7"), validate_only=True) == ErrorCode.NONE
    assert replace(broker, TOPIC, "a", validate_only=True) == ErrorCode.NONE
    assert overrides(broker) == {"retention.ms": "5"}
    for name in ("1", ""):
        assert alter(broker, BROKER, name, ("message.max.bytes", SET, "9"), validate_only=True) == ErrorCode.NONE
    assert (broker.state.config["message.max.bytes"], max_message_bytes(broker)) == (1048588, 1048588)


@pytest.mark.behaviour("IA-12")
def test_an_operation_that_does_not_exist(broker: InProcess):
    assert alter(broker, TOPIC, "a", ("retention.ms", 7, "1")) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert alter(broker, BROKER, "1", ("log.retention.ms", 7, "1")) == ErrorCode.INVALID_REQUEST


@pytest.mark.behaviour("IA-10", "IA-12")
@pytest.mark.parametrize("operation", [4, -1, 127, -128])
def test_an_operation_that_does_not_exist_fails_a_logger_alone(broker: InProcess, operation: int):
    """No traceback, which would have failed the whole request."""
    bad = (LOGGER, "1", [("root", operation, "DEBUG")])
    fine = (TOPIC, "a", [("retention.ms", SET, "9")])
    assert alter_both(broker, bad, fine) == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE]
    assert (overrides(broker), broker.state.cluster.logger_levels) == ({"retention.ms": "9"}, {"root": "INFO"})


ANY_OPERATION = (SET, DELETE, APPEND, SUBTRACT, 4, -1, 127, -128)
ANY_RESOURCE = {
    0: ("x", "y"),
    TOPIC: ("a", "cleanup.policy"),
    3: ("x", "y"),
    BROKER: ("1", "log.cleanup.policy"),
    LOGGER: ("1", "root"),
    CLIENT_METRICS: ("m", "match"),
    GROUP: ("g", "consumer.session.timeout.ms"),
    127: ("x", "y"),
    -128: ("x", "y"),
}


@pytest.mark.behaviour("IA-4", "IA-12", "AC-2")
@pytest.mark.parametrize("kind", ANY_RESOURCE)
@pytest.mark.parametrize("value", [None, "", "INFO", "\x00", "9" * 5000], ids=["null", "empty", "word", "0", "digits"])
def test_every_resource_has_an_answer_to_every_operation(broker: InProcess, kind: int, value: str | None):
    """Those that exist and others, on keys that exist and others: nothing ends in a traceback."""
    name, known = ANY_RESOURCE[kind]
    for resource in (name, "", "nonsuch"):
        for key in (known, "nonsuch", "", "num.io.threads", "max.connections.per.ip", "log.retention.ms"):
            for operation in ANY_OPERATION:
                alter(broker, kind, resource, (key, operation, value), validate_only=True)
            replace(broker, kind, resource, (key, value), validate_only=True)


@pytest.mark.behaviour("IA-2")
def test_a_list_of_a_broker_that_does_not_exist_cannot_be_edited(broker: InProcess):
    asked = incremental.AlterConfigsResource(BROKER, "1", [incremental.AlterableConfig("nonsuch", APPEND, "x")])
    (answer,) = broker.ask(incremental.IncrementalAlterConfigsRequest(resources=[asked]), 1).responses
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_CONFIG, "Unknown config name: nonsuch")


@pytest.mark.behaviour("AC-1")
@pytest.mark.parametrize("version", range(3))
def test_what_is_not_named_goes(broker: InProcess, version: int):
    assert replace(broker, TOPIC, "a", ("max.message.bytes", "99"), version=version) == ErrorCode.NONE
    assert overrides(broker) == {"max.message.bytes": "99"}
    assert max_message_bytes(broker) == 99


@pytest.mark.behaviour("AC-3")
def test_a_brokers_configuration_is_replaced(broker: InProcess):
    assert replace(broker, BROKER, "1", ("message.max.bytes", "99")) == ErrorCode.NONE
    assert broker.state.config["message.max.bytes"] == 99
    assert replace(broker, BROKER, "1", ("offsets.retention.minutes", "1")) == ErrorCode.INVALID_REQUEST
    assert replace(broker, BROKER, "1") == ErrorCode.NONE
    assert broker.state.config["message.max.bytes"] == 1048588


def alter_both(broker: InProcess, *resources: tuple[int, str, list[tuple[str, int, str | None]]]) -> list[int]:
    asked = [
        incremental.AlterConfigsResource(
            resource_type=kind,
            resource_name=name,
            configs=[
                incremental.AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in configs
            ],
        )
        for kind, name, configs in resources
    ]
    answer = broker.ask(incremental.IncrementalAlterConfigsRequest(resources=asked), 1)
    return [one.error_code for one in answer.responses]


@pytest.mark.behaviour("IA-12")
def test_an_operation_that_does_not_exist_fails_what_the_controller_decides_with_it(broker: InProcess):
    fine = (TOPIC, "a", [("retention.ms", SET, "9")])
    told = alter_both(broker, fine, (GROUP, "g", [("share.session.timeout.ms", 7, "1")]), (BROKER, "2", []))
    assert told == [ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.INVALID_REQUEST]
    assert overrides(broker) == {"retention.ms": "5"}


@pytest.mark.behaviour("IA-12")
@pytest.mark.parametrize("name", ["1", ""])
def test_an_operation_that_does_not_exist_fails_a_broker_with_it_that_is_in_order(broker: InProcess, name: str):
    """A broker looks at its own configuration, and asks the controller then."""
    bad = (TOPIC, "a", [("retention.ms", 7, "1")])
    for changes in ([], [("message.max.bytes", SET, "99")], [("min.insync.replicas", SET, "1")]):
        assert alter_both(broker, (BROKER, name, changes), bad) == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2
    assert max_message_bytes(broker) == 1048588
    for changes, code in (
        ([("offsets.retention.minutes", SET, "9")], ErrorCode.INVALID_REQUEST),
        ([("message.max.bytes", APPEND, "9")], ErrorCode.INVALID_CONFIG),
    ):
        assert alter_both(broker, (BROKER, name, changes), bad) == [code, ErrorCode.UNKNOWN_SERVER_ERROR]


@pytest.mark.behaviour("IA-4", "IA-12")
def test_a_resource_named_twice_is_refused_before_its_operations_are_looked_at(broker: InProcess):
    bad = (TOPIC, "a", [("retention.ms", 7, "1")])
    fine = (GROUP, "g", [("consumer.session.timeout.ms", SET, "46000")])
    assert alter_both(broker, bad, fine, bad) == [ErrorCode.INVALID_REQUEST, ErrorCode.NONE, ErrorCode.INVALID_REQUEST]


@pytest.mark.behaviour("IA-12")
def test_another_fault_that_is_found_first_hides_an_operation_that_does_not_exist(broker: InProcess):
    """Keys are looked at in the order of a Java hash map."""
    changes = [("flush.messages", 7, "1"), ("unclean.leader.election.enable", APPEND, "false")]
    assert alter_both(broker, (TOPIC, "a", changes)) == [ErrorCode.INVALID_CONFIG]
