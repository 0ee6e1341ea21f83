"""`listeners` and what belongs to them: what Kafka takes, and what it refuses (seen with KafkaConfig of 4.4.0)."""

from __future__ import annotations

import pytest

from kafkastub.config import Address, BrokerConfig, ConfigError, Listener, Listeners, Profile, plan_listeners
from kafkastub.config.listeners import check_room

TWO = {
    "listeners": "INTERNAL://:19092,EXTERNAL://0.0.0.0:9092",
    "advertised.listeners": "INTERNAL://kafka:19092,EXTERNAL://localhost:9092",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


def plan(advertised: str | None = None, host: str | None = None, port: int | None = None, **config: str) -> Listeners:
    named = {key.replace("_", "."): text for key, text in config.items()}
    return plan_listeners(BrokerConfig(named, Profile.named("kafka")), host, port, advertised)


def refusal(advertised: str | None = None, host: str | None = None, **config: str) -> str:
    with pytest.raises(ConfigError) as refused:
        plan(advertised, host, **config)
    said = str(refused.value)
    assert "\n" not in said
    return said


def test_without_listeners_there_is_one_on_a_free_port_of_this_machine():
    listeners = plan()
    assert listeners.served == (Listener("PLAINTEXT", "127.0.0.1", 0),)
    assert listeners.plain


def test_two_listeners_with_their_own_addresses():
    listeners = plan_listeners(BrokerConfig(TWO, Profile.named("kips")))
    assert listeners.served == (Listener("INTERNAL", "", 19092), Listener("EXTERNAL", "0.0.0.0", 9092))
    assert listeners.advertised == {"INTERNAL": Address("kafka", 19092), "EXTERNAL": Address("localhost", 9092)}


@pytest.mark.parametrize(
    ("text", "name", "host", "port"),
    [
        ("PLAINTEXT://:9092", "PLAINTEXT", "", 9092),
        ("plaintext://localhost:9092", "PLAINTEXT", "localhost", 9092),
        (" PLAINTEXT://[::1]:9092 ", "PLAINTEXT", "::1", 9092),
        ("PLAINTEXT://my_host:0", "PLAINTEXT", "my_host", 0),
    ],
)
def test_a_listener_is_a_name_a_host_and_a_port(text: str, name: str, host: str, port: int):
    assert plan(listeners=text).served == (Listener(name, host, port),)


def test_names_and_protocols_are_read_in_any_case():
    listeners = plan(
        listeners="Inside://a:1 , PLAINTEXT://b:2",
        listener_security_protocol_map=" inside : Plaintext , plaintext:PLAINTEXT",
    )
    assert [one.name for one in listeners.served] == ["INSIDE", "PLAINTEXT"]


def test_a_port_may_be_shared_by_both_kinds_of_addresses():
    plan(
        listeners="PLAINTEXT://[::1]:9092,B://127.0.0.1:9092",
        listener_security_protocol_map="PLAINTEXT:PLAINTEXT,B:PLAINTEXT",
    )


def test_a_controllers_listener_is_read_and_not_served():
    listeners = plan(
        listeners="PLAINTEXT://:9092,CONTROLLER://:9093", advertised_listeners="PLAINTEXT://h:1,CONTROLLER://h:2"
    )
    assert [one.name for one in listeners.served] == ["PLAINTEXT"]
    assert listeners.advertised == {"PLAINTEXT": Address("h", 1)}


def test_a_listener_that_is_not_advertised_is_served_and_nobody_is_sent_there():
    listeners = plan_listeners(
        BrokerConfig({**TWO, "advertised.listeners": "INTERNAL://kafka:19092"}, Profile.named("kafka"))
    )
    assert [one.name for one in listeners.served] == ["INTERNAL", "EXTERNAL"]
    assert list(listeners.advertised) == ["INTERNAL"]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"listeners": "PLAINTEXT://localhost"}, "NAME://HOST:PORT"),
        ({"listeners": "foo"}, "NAME://HOST:PORT"),
        ({"listeners": ":9092"}, "NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://host:9092/x"}, "NAME://HOST:PORT"),
        ({"listeners": "PLAINTEXT://:99999"}, "65535"),
        ({"listeners": ""}, "not empty"),
        ({"listeners": "PLAINTEXT://:9092,"}, "not empty"),
        ({"listeners": "PLAINTEXT://a:1,PLAINTEXT://b:2"}, "different name"),
        ({"listeners": "PLAINTEXT://a:1,SSL://b:1"}, "different port"),
        ({"listeners": "INSIDE://a:1"}, "no security protocol is defined for listener INSIDE"),
        ({"listeners": "SASL_SSL://a:1"}, "SASL_SSL"),
        ({"listeners": "PLAINTEXT://0.0.0.0:9092"}, "0.0.0.0"),
        ({"listeners": "PLAINTEXT://:1", "advertised_listeners": "PLAINTEXT://0.0.0.0:1"}, "0.0.0.0"),
        ({"listeners": "PLAINTEXT://:1", "advertised_listeners": "SSL://h:1"}, "not among the listeners PLAINTEXT"),
        ({"listeners": "PLAINTEXT://:1", "advertised_listeners": "PLAINTEXT://h:1,PLAINTEXT://i:1"}, "different name"),
        ({"listeners": "PLAINTEXT://:1", "listener_security_protocol_map": "PLAINTEXT:PLAIN"}, "SASL_SSL"),
        ({"listeners": "PLAINTEXT://:1", "listener_security_protocol_map": "PLAINTEXT"}, "NAME:PROTOCOL"),
        ({"listeners": "PLAINTEXT://:1", "inter_broker_listener_name": "X"}, "advertised listeners PLAINTEXT"),
        ({"listeners": "IN://:1", "listener_security_protocol_map": "IN:PLAINTEXT"}, "inter.broker.listener.name"),
        (
            {
                "listeners": "PLAINTEXT://:1",
                "inter_broker_listener_name": "PLAINTEXT",
                "security_inter_broker_protocol": "PLAINTEXT",
            },
            "security.inter.broker.protocol",
        ),
        ({"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093", "process_roles": "broker"}, "controller.listener.names"),
        ({"listeners": "CONTROLLER://:9093"}, "the stub has none"),
        ({"listeners": "PLAINTEXT://:1", "kafkastub_users": "alice:secret"}, "no listener authenticates clients"),
    ],
    ids=str,
)
def test_what_kafka_refuses_is_refused(config: dict[str, str], why: str):
    assert why in refusal(**config)


def test_listeners_and_a_host_are_refused_together():
    assert "leave one of them out" in refusal(host="127.0.0.1", listeners="PLAINTEXT://:9092")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("h:1", Address("h", 1)),
        ("[::1]:1", Address("::1", 1)),
        ("PLAINTEXT://h:1", Address("h", 1)),
        ("plaintext://[::1]:0", Address("::1", 0)),
    ],
)
def test_an_advertised_address_may_be_in_kafkas_notation(text: str, told: Address):
    assert plan(text).advertised == {"PLAINTEXT": told}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nowhere", "HOST:PORT"),
        ("h:70000", "HOST:PORT"),
        ("OTHER://h:1", "there is no listener OTHER, only PLAINTEXT"),
        ("PLAINTEXT://h", "NAME://HOST:PORT"),
        ("PLAINTEXT://0.0.0.0:1", "0.0.0.0"),
    ],
)
def test_an_advertised_address_that_is_none_is_refused(text: str, why: str):
    assert why in refusal(text)


def test_of_several_listeners_the_advertised_address_says_which():
    config = BrokerConfig({**TWO, "advertised.listeners": "INTERNAL://kafka:1"}, Profile.named("kafka"))
    with pytest.raises(ConfigError, match=r"say which, for example INTERNAL://h:1"):
        plan_listeners(config, advertised="h:1")
    assert plan_listeners(config, advertised="EXTERNAL://h:1").advertised == {"EXTERNAL": Address("h", 1)}


def test_the_nodes_of_a_cluster_take_ports_in_a_row():
    listeners = plan_listeners(BrokerConfig(TWO, Profile.named("kafka")))
    second = listeners.of_node(1)
    assert [one.port for one in second.served] == [19093, 9093]
    assert second.advertised == {"INTERNAL": Address("kafka", 19093), "EXTERNAL": Address("localhost", 9093)}
    assert [one.port for one in plan().of_node(2).served] == [0]


def test_nodes_that_would_be_in_each_others_way_are_refused():
    both = "A:PLAINTEXT,PLAINTEXT:PLAINTEXT"
    listeners = plan(listeners="PLAINTEXT://:9092,A://:9093", listener_security_protocol_map=both)
    check_room([listeners])
    with pytest.raises(ConfigError, match="port 9093 is wanted by A of node 1 and by PLAINTEXT of node 2"):
        check_room([listeners, listeners.of_node(1)])
    with pytest.raises(ConfigError, match="65535"):
        plan(listeners="PLAINTEXT://:65535").of_node(1)
