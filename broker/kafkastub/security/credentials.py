"""Who the users are: those of a listener's configuration, and SCRAM's, which clients may change."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from kafkastub.config import BrokerConfig, ConfigError, Listener
from kafkastub.security import sasl
from kafkastub.security.delegation_tokens import DelegationTokens
from kafkastub.security.sasl import Mechanism, ScramCredential, Token
from kafkastub.security.tokens import jaas_options, unsecured, unsecured_validator

USERS: Final = "kafkastub.users"
MECHANISMS: Final = (sasl.PLAIN, sasl.SCRAM_SHA_256, sasl.SCRAM_SHA_512, sasl.OAUTHBEARER)
_ENABLED: Final = "sasl.enabled.mechanisms"
_SCRAM_NUMBERS: Final = {sasl.SCRAM_SHA_256: 1, sasl.SCRAM_SHA_512: 2}


class ScramUsers:
    """SCRAM credentials by mechanism (1: SCRAM-SHA-256, 2: SCRAM-SHA-512) and user."""

    def __init__(self, config: BrokerConfig) -> None:
        self._found: dict[tuple[str, int], ScramCredential] = {}
        self._passwords = {
            (user, number): password
            for user, password in configured_users(config).items()
            for number in _SCRAM_NUMBERS.values()
        }
        """Of the configuration: hashed when they are first needed, which takes a few milliseconds each."""

    def get(self, user: str, number: int) -> ScramCredential | None:
        """The credential, None where there is none."""
        password = self._passwords.pop((user, number), None)
        if password is not None:
            self._found[user, number] = sasl.scram_credential_of(MECHANISMS[number], password)
        return self._found.get((user, number))

    def put(self, user: str, number: int, salt: bytes, salted_password: bytes, iterations: int) -> None:
        """A new credential, or another one."""
        self._passwords.pop((user, number), None)
        self._found[user, number] = sasl.scram_credential(MECHANISMS[number], salt, salted_password, iterations)

    def remove(self, user: str, number: int) -> bool:
        """Whether there was one."""
        there = self.get(user, number) is not None
        self._found.pop((user, number), None)
        return there

    def users(self) -> list[str]:
        """Everybody who has one."""
        return list(dict.fromkeys(user for user, _ in (*self._passwords, *self._found)))

    def __len__(self) -> int:
        return len(self._passwords) + len(self._found)

    def document(self) -> Iterator[list[Any]]:
        """All of them as they are now, for a file: what it takes to recognise a password, not the password."""
        for (user, number), one in list(self._found.items()):
            yield [user, number, *(base64.b64encode(part).decode() for part in one[:3]), one.iterations]

    def restore(self, document: Iterable[Any]) -> None:
        """What `document` gave; who is in the configuration has the password that stands there. Raises ValueError."""
        for user, number, *parts, iterations in document:
            salt, stored_key, server_key = map(base64.b64decode, parts)
            self._found[user, number] = ScramCredential(salt, stored_key, server_key, iterations)


def configured_users(config: BrokerConfig) -> dict[str, str]:
    """User to password, of kafkastub.users. Raises ConfigError, without any of it."""
    text = config[USERS]
    if not text:
        return {}
    try:
        users = json.loads(text)
    except (ValueError, RecursionError):
        users = None
    if not isinstance(users, dict) or not all(user and isinstance(word, str) and word for user, word in users.items()):
        raise ConfigError(f'{USERS} is refused: expected a JSON object of users and passwords, {{"alice": "secret"}}')
    return users


class ListenerSasl:
    """What one listener asks of its clients.

    Attributes:
        mechanisms: those that are enabled, in the configuration's order.
    """

    def __init__(self, config: BrokerConfig, listener: Listener) -> None:
        """Raises ConfigError."""
        self._config = config
        self._prefix = f"listener.name.{listener.name.lower()}."
        own = configured_users(config)
        enabled = self._own(_ENABLED)
        if enabled is not None:
            self.mechanisms = [name.strip() for name in enabled.split(",") if name.strip()]
        elif _ENABLED in config.static:
            self.mechanisms = list(config[_ENABLED])
        else:
            self.mechanisms = [sasl.PLAIN, sasl.SCRAM_SHA_256, sasl.SCRAM_SHA_512] if own else ["GSSAPI"]
        for name in self.mechanisms:
            if name not in MECHANISMS:
                raise ConfigError(
                    f"{_ENABLED}={','.join(self.mechanisms)} is refused for the listener {listener.name}: the stub has "
                    f"{', '.join(MECHANISMS)}"
                )
        self._plain_users = {**own, **self._jaas_users()} if sasl.PLAIN in self.mechanisms else {}
        self._validate: Callable[[str, int], Token] = unsecured
        if sasl.OAUTHBEARER in self.mechanisms:
            self._validate = self._tokens()
        for name in self.mechanisms:
            self.max_reauth_ms(name)

    def begin(self, name: str, scram: ScramUsers, tokens: DelegationTokens, now_ms: Callable[[], int]) -> Mechanism:
        """A new authentication by an enabled mechanism."""
        if name == sasl.PLAIN:
            return sasl.Plain(self._plain_users)
        if name == sasl.OAUTHBEARER:
            return sasl.OAuthBearer(lambda token: self._validate(token, now_ms()))
        number = _SCRAM_NUMBERS[name]
        return sasl.Scram(name, lambda user: scram.get(user, number), lambda token_id: tokens.login(token_id, name))

    def max_reauth_ms(self, mechanism: str) -> int:
        """`connections.max.reauth.ms` of a mechanism; 0: a session never ends."""
        name = "connections.max.reauth.ms"
        text = self._own(f"{mechanism.lower()}.{name}") or self._own(name)
        try:
            return int(self._config[name] if text is None else text)
        except ValueError:
            raise ConfigError(f"{self._prefix}…{name} is refused: allowed is a whole number of milliseconds") from None

    def _own(self, name: str) -> str | None:
        return self._config.static.get(self._prefix + name)

    def _jaas(self, mechanism: str) -> Mapping[str, str]:
        name = f"{mechanism.lower()}.sasl.jaas.config"
        text = self._own(name)
        return {} if text is None else jaas_options(self._prefix + name, text)

    def _jaas_users(self) -> dict[str, str]:
        return {
            name.removeprefix("user_"): value
            for name, value in self._jaas(sasl.PLAIN).items()
            if name.startswith("user_")
        }

    def _setting(self, name: str) -> Any:
        own = self._own(f"oauthbearer.{name}") or self._own(name)
        return self._config[name] if own is None else own

    def _refuse_unverified(self, what: str, expected: object) -> None:
        """Whose tokens are meant has to be said, or that it does not matter. Kafka 4.4: BrokerJwtValidator."""
        allow = f"sasl.oauthbearer.allow.unverified.{what}"
        if not expected and self._config.follows(4, 4) and str(self._setting(allow)).strip().lower() != "true":
            name = f"sasl.oauthbearer.expected.{what}"
            raise ConfigError(f"{name} is missing: set it to the {what} of the tokens, or {allow}=true to take any")

    def _tokens(self) -> Callable[[str, int], Token]:
        url = self._setting("sasl.oauthbearer.jwks.endpoint.url")
        if not url:
            name = f"{self._prefix}oauthbearer.sasl.jaas.config"
            return unsecured_validator(name, dict(self._jaas(sasl.OAUTHBEARER)))
        from kafkastub.security.signed_tokens import Rules, signed_validator

        audiences = self._setting("sasl.oauthbearer.expected.audience")
        self._refuse_unverified("audience", audiences)
        self._refuse_unverified("issuer", self._setting("sasl.oauthbearer.expected.issuer"))
        rules = Rules(
            self._setting("sasl.oauthbearer.sub.claim.name"),
            self._setting("sasl.oauthbearer.scope.claim.name"),
            int(self._setting("sasl.oauthbearer.clock.skew.seconds")),
            audiences.split(",") if isinstance(audiences, str) else list(audiences),
            self._config.follows(4, 4),
            self._setting("sasl.oauthbearer.expected.issuer"),
        )
        return signed_validator(url, rules)
