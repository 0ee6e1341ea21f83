"""Random requests without sense: valid by the schema but of odd values, and valid ones with bytes broken.

Three groups and the shared topics stand still while an administrator asks nonsense about them; every JoinGroup goes to
a group of its own, so that no answer depends on time. Nothing here takes member ids from answers.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import cast

from kafkastub_conformance.differential import verbs
from kafkastub_conformance.differential.bodies import BYTES, Json, build
from kafkastub_conformance.differential.play import Play
from kafkastub_conformance.messages import request_class, versions
from kafkawire.codec import encode
from kafkawire.schema import Struct
from tests.differential.handmade_groups import groups_of_every_kind
from tests.differential.handmade_wire import GROUP_APIS
from tests.differential.scripts import G1, G2, G3, Script

STEPS = 60
G4 = "<p>g4"
WORDS: dict[str, list[Json]] = {
    "group_id": [G1, G2, G3, G4, "<p>none", "", "<p> ", "<p>é"],
    "groups_names": [G1, G3, G4, "<p>none", "", "<p>é"],
    "groups": [G1, G2, G3, G4, "<p>none", "", "<p>é"],
    "member_id": ["", "nobody", "x" * 300],
    "group_instance_id": [None, "", "i2", "i9"],
    "name": ["t1", "t2", "t3", "nope", "", "__consumer_offsets", "bad name", "x" * 250, "."],
    "protocol_type": ["consumer", "connect", "", None],
    "protocol_name": ["range", "", None],
    "states_filter": ["Stable", "empty", "", "odd"],
    "types_filter": ["classic", "consumer", "", "odd"],
    "topic_id": [verbs.topic_id("t1"), verbs.topic_id("t3"), "00" * 16, "00" * 15 + "01", "ab" * 16],
    "key_type": [0, 0, 2, 3, 127, -128],
    "metadata": ["", "ff", verbs.subscription("t1")],
    "session_timeout_ms": [300000, 300000, 300000, 6000, 5999, 1800000, 1800001, -1, 0, 2**31 - 1],
    "rebalance_timeout_ms": [300000],
    "partition_index": [0, 0, 1, 2, 3, -1, 2**31 - 1, -(2**31)],
    "partition_indexes": [0, 0, 1, 2, 3, -1, 2**31 - 1, -(2**31)],
}
"""Values for fields by name; others are taken from `NUMBERS` by type, or are short texts."""

NUMBERS: dict[str, list[Json]] = {
    "int8": [0, 1, -1, 127, -128],
    "int16": [0, 1, -1, 32767, -32768],
    "int32": [0, 1, 2, -1, -2, 2**31 - 1, -(2**31)],
    "int64": [0, 1, -1, -2, 1000, 2**63 - 1, -(2**63)],
    "bool": [False, True],
}


def odd_values(seed: int) -> Script:
    """Requests with odd values, of one seed."""
    return Script(f"odd-{seed}", lambda play: Fuzz(play, seed).run(Fuzz.odd), (G1, G2, G3, G4))


def broken_bytes(seed: int) -> Script:
    """Requests with broken bytes, of one seed."""
    return Script(f"broken-{seed}", lambda play: Fuzz(play, seed).run(Fuzz.broken), (G1, G2, G3, G4))


class Fuzz:
    """One scenario in the making."""

    def __init__(self, play: Play, seed: int) -> None:
        self.play = play
        self.random = random.Random(seed)
        self.joins = 0

    def run(self, step: Callable[[Fuzz], None]) -> None:
        """The groups, then STEPS steps."""
        groups_of_every_kind(self.play)
        for _ in range(STEPS):
            step(self)

    def odd(self) -> None:
        """A request that the schema allows."""
        api, version, body = self._request()
        # A join or sync may be held back for good: nothing must wait behind it.
        self.joins += 1
        self.play.ask(f"j{self.joins}" if api in ("JoinGroup", "SyncGroup") else "a1", api, version, body)

    def broken(self) -> None:
        """A request of which one to three bytes are others, or a part is gone, or doubled."""
        api, version, body = self._request()
        # Not a join: what it breaks into may be parked, or hang a real coordinator. No topic ids, as they are others
        # in every play and half of one has no name.
        while api == "JoinGroup" or "<topic" in str(body):
            api, version, body = self._request()
        names = self.play.stage.names
        data = bytearray(encode(build(request_class(api), body, names.sending), version))
        for _ in range(self.random.randint(1, 3)):
            self._break(data)
        prefix, pieces = names.prefix.encode(), []
        for number, part in enumerate(bytes(data).split(prefix)):
            pieces += [["text", "<p>"]] if number else []
            pieces.append(["hex", part.hex()])
        self.play.ask("a1", api, version, raw=pieces)

    def _break(self, data: bytearray) -> None:
        at, how = self.random.randrange(len(data) + 1), self.random.random()
        if how < 0.6 and at < len(data):
            data[at] = self.random.choice((0, 1, 2, 0x7F, 0x80, 0xFF, self.random.randrange(256)))
        elif how < 0.8:
            del data[at : at + self.random.choice((1, 1, 2, 4, 99999))]
        else:
            data[at:at] = self.random.choice((b"\0", b"\xff", b"\xff\xff", bytes(data[at : at + 4])))

    def _request(self) -> tuple[str, int, dict[str, Json]]:
        api = self.random.choice(GROUP_APIS)
        version = self.random.choice(versions(api))
        body = self._body(request_class(api), version)
        if api == "JoinGroup":
            body["group_id"] = self.random.choice((f"<p>f{self.joins}", f"<p>f{self.joins}", ""))
            names = self.random.sample(("range", "sticky", "", "x" * 200), self.random.randint(0, 2))
            body["protocols"] = [{"name": name, "metadata": self.random.choice(WORDS["metadata"])} for name in names]
        return api, version, body

    def _body(self, cls: type[Struct], version: int) -> dict[str, Json]:
        body: dict[str, Json] = {}
        for name, kind, between, nullable, *_ in cls.FIELDS:
            if between[0] <= version <= between[1]:
                may_be_null = nullable is not None and nullable[0] <= version <= nullable[1]
                body[name] = self._value(cls, name, kind, version, may_be_null)
        return body

    def _value(self, cls: type[Struct], name: str, kind: str, version: int, may_be_null: bool) -> Json:
        if may_be_null and self.random.random() < 0.15:
            return None
        if kind.startswith("[]"):
            count = self.random.choice((0, 1, 1, 2, 3))
            return [self._value(cls, name, kind[2:], version, False) for _ in range(count)]
        if name in WORDS and (kind in NUMBERS or kind in ("string", "uuid", *BYTES)):
            words = [word for word in WORDS[name] if word is not None or may_be_null]
            return self.random.choice(words)
        if kind in NUMBERS:
            return self.random.choice(NUMBERS[kind])
        if kind in BYTES:
            return self.random.choice(("", "00", "ff" * 20))
        if kind == "string":
            return self.random.choice(("", "a", "é", "x" * 130))
        return self._body(cast("type[Struct]", getattr(sys.modules[cls.__module__], kind)), version)
