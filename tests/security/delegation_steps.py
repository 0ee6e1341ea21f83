"""What is asked about delegation tokens of the stub and of Apache Kafka alike, and every answer made comparable.

Tokens are numbered in the order in which they were made, and times told from a token's issue on, in minutes. What
Apache Kafka answered is in `delegation_tokens.json`; `python -m tests.security.delegation_steps` records it anew.
"""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from kafkastub.security import Acl, Operation, PatternType, Permission, ResourceType
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.create_acls_request import AclCreation, CreateAclsRequest
from kafkawire.messages.create_delegation_token_request import CreatableRenewers, CreateDelegationTokenRequest
from kafkawire.messages.create_delegation_token_response import CreateDelegationTokenResponse
from kafkawire.messages.describe_delegation_token_request import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from kafkawire.messages.describe_delegation_token_response import (
    DescribedDelegationToken,
    DescribeDelegationTokenResponse,
)
from kafkawire.messages.expire_delegation_token_request import ExpireDelegationTokenRequest
from kafkawire.messages.renew_delegation_token_request import RenewDelegationTokenRequest
from kafkawire.schema import Message
from tests.security import brokers
from tests.security.brokers import PASSWORD, Addresses
from tests.security.talk import Talk
from tests.waiting import until

RECORDED: Final = Path(__file__).with_name("delegation_tokens.json")
SECRET: Final = "the secret key"
HOUR: Final = 3_600_000
DISABLED: Final[dict[str, object]] = {
    "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super_users": "User:ANONYMOUS;User:root",
}
"""As keyword arguments of `brokers.stub` and `brokers.kafka`."""
CONFIG: Final[dict[str, object]] = {
    **DISABLED,
    "delegation_token_secret_key": SECRET,
    "delegation_token_max_lifetime_ms": 48 * HOUR,
    "delegation_token_expiry_time_ms": 24 * HOUR,
}
PASSWORDS: Final = {"alice": PASSWORD, "bob": "b", "root": "r", "dora": "d"}
Who = tuple[str | None, str | None]
ALICE, BOB, DORA, GUS, GROUP = ("User", "alice"), ("User", "bob"), ("User", "dora"), ("User", "gus"), ("Group", "dora")
Said = list[list[Any]]


def creation(version: int = 3, max_ms: int = -1, owner: Who = (None, None), renewers: Sequence[Who] = ()) -> Message:
    return CreateDelegationTokenRequest(*owner, [CreatableRenewers(*one) for one in renewers], max_ms)  # type: ignore[arg-type]


def description(owners: Sequence[Who] | None = None) -> Message:
    found = None if owners is None else [DescribeDelegationTokenOwner(*one) for one in owners]  # type: ignore[arg-type]
    return DescribeDelegationTokenRequest(found)


def secret(made: Any) -> str:
    """What one signs in with by a token."""
    return base64.b64encode(bytes(made.hmac)).decode()


@contextmanager
def user(address: str, name: str) -> Iterator[Talk]:
    """Somebody who has signed in with a password."""
    with Talk(address) as talk:
        answer = talk.plain(name, PASSWORDS[name])
        assert answer.error_code == 0, answer.error_message
        yield talk


class Play:
    """One broker that is asked, and what it has said."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self.said: Said = []
        self._numbers: dict[str, tuple[int, int]] = {}
        """Token id -> number, issued."""

    def user(self, name: str) -> Any:
        return user(self.addresses.sasl, name)

    @contextmanager
    def holder(self, made: Any, mechanism: str) -> Iterator[Talk]:
        """Somebody who has signed in with a token."""
        with Talk(self.addresses.sasl) as talk:
            answer = talk.scram(made.token_id, secret(made), mechanism, extensions=",tokenauth=true")
            assert answer.error_code == 0, answer.error_message
            yield talk

    def create(self, talk: Talk, what: str, version: int = 3, **how: Any) -> Any:
        answer = self._ask(talk, f"create {what}", ApiKey.CREATE_DELEGATION_TOKEN, version, creation(**how))
        if not answer.error_code:
            until(lambda: answer.token_id in self.tokens(), "Kafka's broker learns of what its controller did")
        return answer

    def renew(self, talk: Talk, what: str, key: Any, ms: int = -1, version: int = 2) -> int:
        request = RenewDelegationTokenRequest(bytes(key), ms)
        return self._moved(key, self._ask(talk, f"renew {what}", ApiKey.RENEW_DELEGATION_TOKEN, version, request))

    def expire(self, talk: Talk, what: str, key: Any, ms: int = -1, version: int = 2) -> int:
        request = ExpireDelegationTokenRequest(bytes(key), ms)
        answer = self._ask(talk, f"expire {what}", ApiKey.EXPIRE_DELEGATION_TOKEN, version, request)
        if ms >= 0:
            return self._moved(key, answer)
        if not answer.error_code:
            until(lambda: all(one.hmac != key for one in self.tokens().values()), "the token is gone")
        return 0

    def describe(self, talk: Talk, what: str, owners: Sequence[Who] | None = None, version: int = 3) -> Any:
        request = description(owners)
        return self._ask(talk, f"describe {what}", ApiKey.DESCRIBE_DELEGATION_TOKEN, version, request)

    def login(self, what: str, token_id: str, password: str, name: str = "sha256", **how: str) -> None:
        """Whether one gets in so, and for how long."""
        with Talk(self.addresses.sasl) as talk:
            answer = talk.scram(token_id, password, name, **{"extensions": ",tokenauth=true", **how})
        minutes = round(answer.session_lifetime_ms / 60_000)
        self.said.append([f"login {what}", 2, ErrorCode(answer.error_code).name, answer.error_message, minutes])

    def allow(self, *entries: tuple[str, ResourceType, str, Operation], known: Callable[[], bool]) -> None:
        """Entries, and wait until they are known."""
        acls = [Acl(kind, name, PatternType.LITERAL, who, "*", do, Permission.ALLOW) for who, kind, name, do in entries]
        with self.user("root") as talk:
            answer = talk.ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([AclCreation(*one) for one in acls]))
        assert not any(one.error_code for one in answer.results)
        until(known, "the entries count")

    def sees(self, name: str) -> int:
        """How many tokens somebody sees."""
        with self.user(name) as talk:
            return len(talk.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, description()).tokens)

    def _ask(self, talk: Talk, what: str, key: ApiKey, version: int, request: Message) -> Any:
        answer = talk.ask(key, version, request)
        self.said.append([what, version, ErrorCode(answer.error_code).name, *self._shown(answer)])
        return answer

    def _moved(self, key: Any, answer: Any) -> int:
        """When the token expires now; Kafka's broker learns of it a moment later."""
        at: int = answer.expiry_timestamp_ms
        if not answer.error_code:
            until(lambda: at in [one.expiry_timestamp for one in self.tokens().values() if one.hmac == key], "renewed")
        return at

    def tokens(self) -> dict[str, Any]:
        """What a super user sees, by id."""
        with self.user("root") as talk:
            found = talk.ask(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, description()).tokens
        return {one.token_id: one for one in found}

    def _shown(self, answer: Any) -> list[Any]:
        if isinstance(answer, CreateDelegationTokenResponse):
            if answer.token_id:
                self._numbers[answer.token_id] = len(self._numbers), answer.issue_timestamp_ms
            times = answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms
            return [self._token(answer, times)]
        if isinstance(answer, DescribeDelegationTokenResponse):
            tokens = sorted(answer.tokens, key=lambda one: self._numbers[one.token_id])
            return [self._token(one, (one.issue_timestamp, one.expiry_timestamp, one.max_timestamp)) for one in tokens]
        return [_minutes(answer.expiry_timestamp_ms, round(time.time() * 1000))]

    def _token(self, one: CreateDelegationTokenResponse | DescribedDelegationToken, times: Sequence[int]) -> list[Any]:
        number, issued = self._numbers.get(one.token_id, (-1, 0))
        right = bytes(one.hmac) == hmac.digest(SECRET.encode(), one.token_id.encode(), "sha512")
        renewers = [f"{each.principal_type}:{each.principal_name}" for each in getattr(one, "renewers", ())]
        return [
            number,
            f"{one.principal_type}:{one.principal_name}",
            f"{one.token_requester_principal_type}:{one.token_requester_principal_name}",
            *(_minutes(ms, issued) for ms in times),
            *renewers,
            "its hmac" if right else bytes(one.hmac).hex(),
        ]


def _minutes(ms: int, since: int) -> int | str:
    return ms if ms <= 0 else f"+{round((ms - since) / 60_000)} min"


def play(addresses: Addresses) -> Said:
    """Everything, on a broker with `CONFIG`."""
    on = Play(addresses)
    with Talk(addresses.plain) as talk:
        _not_allowed(on, talk, "over PLAINTEXT", b"x")
        on.create(talk, "over PLAINTEXT, an owner without type", owner=(None, "x"))
    with on.user("alice") as talk:
        first, second = _made(on, talk)
        _seen(on, talk)
    other = _of_others(on, first, second)
    with on.user("alice") as talk:
        _renewed(on, talk, second, other)
    _signed_in(on, first)
    return on.said


def play_disabled(addresses: Addresses) -> Said:
    """What is asked where there is no secret key."""
    on = Play(addresses)
    with Talk(addresses.plain) as talk:
        on.create(talk, "over PLAINTEXT")
    with on.user("root") as talk:
        for version in (1, 2, 3):
            on.create(talk, "a token", version)
            on.create(talk, "with a bad renewer", version, renewers=[GROUP])
            on.create(talk, "of another owner", version, owner=DORA)
            on.describe(talk, "all", version=version)
            on.describe(talk, "nobody's", [], version=version)
        for version in (1, 2):
            on.renew(talk, "one", b"x", version=version)
            on.expire(talk, "one", b"x", version=version)
    on.login("by what is none", "x", "y")
    return on.said


def _not_allowed(on: Play, talk: Talk, how: str, key: bytes) -> None:
    for version in (1, 2, 3):
        on.create(talk, how, version)
        on.create(talk, f"{how}, another owner", version, owner=DORA)
        on.describe(talk, how, version=version)
    for version in (1, 2):
        on.renew(talk, how, key, version=version)
        on.expire(talk, how, key, version=version)


def _made(on: Play, talk: Talk) -> tuple[Any, Any]:
    first, second, _ = (on.create(talk, "in each version", version) for version in (1, 2, 3))
    for ms in (HOUR, 0, -77, (1 << 63) - 1, -1 << 63):
        on.create(talk, f"for {ms} ms", max_ms=ms)
    on.create(talk, "with renewers", renewers=[BOB, BOB, DORA])
    on.create(talk, "with a renewer without a name", renewers=[("User", "")])
    on.create(talk, "with a bad renewer", renewers=[BOB, GROUP])
    on.create(talk, "of the same owner", owner=ALICE)
    on.create(talk, "of another owner", owner=DORA)
    on.create(talk, "of another owner, with a bad renewer", owner=DORA, renewers=[GROUP])
    on.create(talk, "of a group", owner=("Group", "alice"))
    on.create(talk, "of a group without a name", owner=("Group", ""))
    on.create(talk, "of an owner without a type", owner=(None, "alice"))
    on.create(talk, "of an owner without a name", owner=("User", None))
    return first, second


def _seen(on: Play, talk: Talk) -> None:
    for version in (1, 2, 3):
        on.describe(talk, "all", version=version)
        on.describe(talk, "nobody's", [], version=version)
        on.describe(talk, "what bob may renew", [BOB], version=version)
    on.describe(talk, "two owners'", [BOB, DORA, BOB])
    on.describe(talk, "a stranger's", [("User", "x")])


def _of_others(on: Play, first: Any, second: Any) -> Any:
    with on.user("bob") as talk:
        on.describe(talk, "all, as bob")
        on.describe(talk, "alice's, as bob", [ALICE])
        on.create(talk, "for dora, as bob", owner=DORA)
        on.renew(talk, "alice's, as bob", first.hmac)
        on.expire(talk, "alice's, as bob", first.hmac)
    before = on.sees("bob"), on.sees("dora")
    on.allow(
        ("User:bob", ResourceType.USER, "User:dora", Operation.CREATE_TOKENS),
        ("User:bob", ResourceType.USER, "User:gus", Operation.ALL),
        ("User:bob", ResourceType.USER, "User:alice", Operation.DESCRIBE_TOKENS),
        ("User:dora", ResourceType.DELEGATION_TOKEN, first.token_id, Operation.DESCRIBE),
        ("User:dora", ResourceType.DELEGATION_TOKEN, second.token_id, Operation.ALTER),
        known=lambda: on.sees("bob") > before[0] and on.sees("dora") > before[1] + 1,
    )
    with on.user("bob") as talk:
        made = on.create(talk, "for dora, as bob who may", owner=DORA, renewers=[ALICE])
        on.create(talk, "for gus, as bob who may", owner=GUS)
        on.create(talk, "for a group of that name", owner=GROUP)
        on.describe(talk, "all, as bob who may")
        on.describe(talk, "alice's, as bob who may", [ALICE])
        on.renew(talk, "what he has asked for", made.hmac)
        on.expire(talk, "what he has asked for", made.hmac)
    with on.user("dora") as talk:
        on.describe(talk, "all, as dora")
        on.describe(talk, "alice's, as dora", [ALICE])
        on.renew(talk, "what she owns", made.hmac)
    with on.user("root") as talk:
        group = on.create(talk, "for a group, as root", owner=GROUP)
        on.describe(talk, "all, as root")
        on.renew(talk, "alice's, as root", first.hmac)
        on.expire(talk, "alice's, as root", first.hmac)
    on.login("a group's", group.token_id, secret(group))
    return made


def _renewed(on: Play, talk: Talk, mine: Any, other: Any) -> None:
    for version in (1, 2):
        for key in (b"", b"x" * 64):
            on.renew(talk, "what is none", key, version=version)
            on.expire(talk, "what is none", key, version=version)
    on.renew(talk, "as a renewer", other.hmac)
    for ms in (-1, 0, -5, HOUR, 30 * HOUR, (1 << 63) - 1, -1 << 63):
        on.renew(talk, f"for {ms} ms", mine.hmac, ms)
    for ms in (HOUR, 60 * HOUR, (1 << 63) - 1):
        on.expire(talk, f"in {ms} ms", mine.hmac, ms)
    at = on.expire(talk, "in 0 ms", mine.hmac, 0)
    until(lambda: time.time() * 1000 > at + 2, "it is over")
    on.renew(talk, "what is over", mine.hmac)
    on.expire(talk, "what is over", mine.hmac, HOUR)
    on.describe(talk, "what is over, too", [ALICE])
    with on.user("bob") as someone:
        on.renew(someone, "what is over and alice's", mine.hmac)
        on.expire(someone, "what is over and alice's", mine.hmac, HOUR)
    on.login("by what is over", mine.token_id, secret(mine))
    on.expire(talk, "what is over, at once", mine.hmac)
    on.renew(talk, "what is gone", mine.hmac)
    on.login("by what is gone", mine.token_id, secret(mine))


def _signed_in(on: Play, made: Any) -> None:
    word = secret(made)
    for name in ("sha256", "sha512"):
        on.login(name, made.token_id, word, name)
        with on.holder(made, name) as talk:
            _not_allowed(on, talk, "by token", bytes(made.hmac))
    with on.holder(made, "sha256") as talk:
        assert talk.scram("alice", PASSWORD).error_code == 0
        on.create(talk, "by token, then by password")
    on.login("with a wrong hmac", made.token_id, "x")
    for extensions in ("", ",tokenauth=false", ",tokenauth=TRUE", ",TokenAuth=true", ",tokenauth=true=", ",x=true"):
        on.login(f"with the extensions {extensions!r}", made.token_id, word, extensions=extensions)
    on.login("of a user as a token", "alice", PASSWORD)
    for authzid in (made.token_id, "alice"):
        on.login(
            "as " + ("the token" if authzid != "alice" else "its owner"), made.token_id, word, gs2=f"n,a={authzid},"
        )


def main() -> None:
    recorded = {}
    for name, config, player in (("enabled", CONFIG, play), ("disabled", DISABLED, play_disabled)):
        with brokers.kafka(**config) as addresses:
            recorded[name] = player(addresses)
    lines = [f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, said)) + "\n]" for name, said in recorded.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
