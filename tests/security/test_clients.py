"""Every client with every mechanism that it has, right and wrong credentials."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkastub import ConfigError, KafkaStub
from tests.clients.jvm import Jvm
from tests.security.talk import unsecured_token
from tests.waiting import until

PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS = (*PASSWORDS, "OAUTHBEARER")
USERS = {"alice": "secret"}


@pytest.fixture(scope="module")
def stub() -> Iterator[KafkaStub]:
    config = {
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:alice",
    }
    with KafkaStub(users=USERS, config=config, topics={"t": 1}) as running:
        yield running


def shown_token(right: bool) -> str:
    """The wrong one is over."""
    return unsecured_token(sub="alice", exp=time.time() + 3600 if right else 1)


def in_python(mechanism: str, tokens: object, right: bool) -> dict[str, Any]:
    """The settings of aiokafka and kafka-python, which are the same."""
    settings: dict[str, Any] = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": mechanism}
    if mechanism == "OAUTHBEARER":
        return {**settings, "sasl_oauth_token_provider": tokens}
    return {**settings, "sasl_plain_username": "alice", "sasl_plain_password": "secret" if right else "wrong"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_confluent_kafka(stub: KafkaStub, mechanism: str, right: bool):
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    errors: list[Any] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": stub.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "error_cb": errors.append,
        "log_level": 0,
    }
    if mechanism == "OAUTHBEARER":
        told = shown_token(right)
        settings["oauth_cb"] = lambda _: (told, time.time() + 3600, "alice", {})
    else:
        settings |= {"sasl.username": "alice", "sasl.password": "secret" if right else "wrong"}
    admin = AdminClient(settings)
    admin.poll(0)
    if right:
        assert list(admin.list_topics(timeout=60).topics) == ["t"]
    else:
        with pytest.raises(KafkaException):
            admin.list_topics(timeout=1)

        def is_told() -> bool:
            admin.poll(0.1)
            return any("auth" in str(one).lower() for one in errors)

        until(is_told, "the client says why")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
async def test_aiokafka(stub: KafkaStub, mechanism: str, right: bool):
    from aiokafka import AIOKafkaProducer
    from aiokafka.abc import AbstractTokenProvider
    from aiokafka.errors import KafkaError

    class Tokens(AbstractTokenProvider):
        async def token(self) -> str:
            return shown_token(right)

    settings = in_python(mechanism, Tokens(), right)
    producer = AIOKafkaProducer(bootstrap_servers=stub.bootstrap_servers, **settings)
    try:
        if right:
            await asyncio.wait_for(producer.start(), 60)
            assert (await producer.send_and_wait("t", b"v")).topic == "t"
        elif mechanism == "OAUTHBEARER":  # it does not look at the answer to its token, and is not served all the same
            await asyncio.wait_for(producer.start(), 60)
            assert not producer.client.cluster.brokers()
        else:
            with pytest.raises(KafkaError):
                await asyncio.wait_for(producer.start(), 60)
    finally:
        await producer.stop()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_kafka_python(stub: KafkaStub, mechanism: str, right: bool):
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError
    from kafka.net.sasl.oauth import AbstractTokenProvider  # type: ignore[import-untyped]

    class Tokens(AbstractTokenProvider):  # type: ignore[misc]
        def __init__(self, **_: Any) -> None:
            pass

        def token(self) -> str:
            return shown_token(right)

    settings = in_python(mechanism, Tokens(), right)
    if right:
        admin = KafkaAdminClient(bootstrap_servers=stub.bootstrap_servers, **settings)
        assert "t" in admin.list_topics()
        admin.close()
    else:
        with pytest.raises(KafkaError):
            KafkaAdminClient(
                bootstrap_servers=stub.bootstrap_servers, bootstrap_timeout_ms=500, **settings
            ).list_topics()


_MODULES = {
    "PLAIN": 'plain.PlainLoginModule required username="alice" password="{password}";',
    "SCRAM-SHA-256": 'scram.ScramLoginModule required username="alice" password="{password}";',
    "SCRAM-SHA-512": 'scram.ScramLoginModule required username="alice" password="{password}";',
    "OAUTHBEARER": 'oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_{claim}="alice";',
}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_java(stub: KafkaStub, jvm: Jvm, tmp_path: Path, mechanism: str, right: bool):
    module = _MODULES[mechanism].format(password="secret" if right else "wrong", claim="sub")
    if mechanism == "OAUTHBEARER" and not right:
        module = module.replace(";", ' unsecuredLoginLifetimeSeconds="1" unsecuredLoginPrincipalClaimName="sub";')
        module = module.replace('sub="alice"', 'sub="mallory"')  # a token that is good, of somebody who may do nothing
    settings = tmp_path / "client.properties"
    settings.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
        f"sasl.jaas.config=org.apache.kafka.common.security.{module}\n"
        "default.api.timeout.ms=60000\nrequest.timeout.ms=30000\n"
    )
    done = jvm.tool(
        "org.apache.kafka.tools.TopicCommand",
        *("--bootstrap-server", stub.bootstrap_servers, "--command-config", str(settings), "--list"),
    )
    said = done.out + done.err
    if right:
        assert "t" in done.out.split()
    elif mechanism == "OAUTHBEARER":
        assert "t" not in done.out.split()
    else:
        assert "Authentication failed" in said
        assert "wrong" not in said


def test_a_signed_token(tmp_path: Path):
    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    from tests.security.talk import Talk, bearer

    key, other = (rsa.generate_private_key(65537, 2048) for _ in range(2))
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": "one", "alg": "RS256"}
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps({"keys": [public]}))
    config = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "https://issuer",
        "sasl.oauthbearer.clock.skew.seconds": 0,
    }
    now = int(time.time())
    good = {"sub": "erin", "iat": now, "exp": now + 600, "aud": "kafka", "iss": "https://issuer"}
    tokens = {
        "good": jwt.encode(good, key, "RS256", headers={"kid": "one"}),
        "another key": jwt.encode(good, other, "RS256", headers={"kid": "one"}),
        "unknown key": jwt.encode(good, key, "RS256", headers={"kid": "two"}),
        "expired": jwt.encode({**good, "exp": 1000}, key, "RS256", headers={"kid": "one"}),
        "another audience": jwt.encode({**good, "aud": "x"}, key, "RS256", headers={"kid": "one"}),
        "another issuer": jwt.encode({**good, "iss": "x"}, key, "RS256", headers={"kid": "one"}),
        "unsigned": unsecured_token(**good),
        "signed by a password": jwt.encode(good, base64.b64encode(keys.read_bytes()), "HS256", headers={"kid": "one"}),
    }
    with KafkaStub(users=USERS, config=config) as stub:
        refused = {}
        for name, text in tokens.items():
            with Talk(stub.bootstrap_servers) as talk:
                talk.shake("OAUTHBEARER")
                refused[name] = bool(talk.send(bearer(text)).auth_bytes)
    assert refused == {name: name != "good" for name in tokens}


@pytest.mark.parametrize("what", ["audience", "issuer"])
def test_whose_tokens_are_meant_has_to_be_said(tmp_path: Path, what: str):
    """From Kafka 4.4 on."""
    keys = tmp_path / "jwks.json"
    keys.write_text('{"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "one", "alg": "HS256"}]}')
    other = {"audience": "issuer", "issuer": "audience"}[what]
    config = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        f"sasl.oauthbearer.expected.{other}": "somebody",
    }
    wanted = f"sasl.oauthbearer.expected.{what} is missing: .* or sasl.oauthbearer.allow.unverified.{what}=true"
    with pytest.raises(ConfigError, match=wanted):
        KafkaStub(users=USERS, config=config).start()
    for more in ({"config": config | {f"sasl.oauthbearer.allow.unverified.{what}": True}}, {"as_version": "4.3"}):
        with KafkaStub(users=USERS, **{"config": config, **more}):
            pass
