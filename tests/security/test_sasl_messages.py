"""What a client of SASL may say, letter by letter: as Kafka's own readers have it, of messages that chance has made."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest

from kafkastub.security.sasl_messages import NoMessage, bearer_first, scram_final, scram_first
from tests.oracle.apache_kafka import run_java

GOOD = {
    "bearer": [
        b"n,,\1auth=Bearer abc.d-e\1\1",
        b"n,a=me,\1a=b\1auth=bearer  x==\1c=d e=f\1\1",
        b"n,,\1auth=x\1auth=BEARER y\1\1",
    ],
    "scram first": [b"n,,n=me,r=abc", b"n,a=me,n=m=2Ce=3D,r=a=b!", b"n,,m=x=y,n=me,r=abc,a=b,cc=d=e"],
    "scram final": [b"c=biws,r=abc,p=YWJj", b"c=,r=a,x=y,p=YQ==", b"c=bi==,r=abc,a=b,b=c,p=YWI="],
}
PIECES = [
    b",",
    b"=",
    b"\1",
    b"\0",
    b" ",
    b"n=",
    b"m=",
    b"r=",
    b"p=",
    b"c=",
    b"a=",
    b"auth=",
    b"Bearer ",
    b"=2C",
    b"=3D",
    b"=2",
    b"\xff",
    b"\xc3\xbc",
    b"\x7f",
    b"\t",
    b"~",
    b"+",
    b"/",
    b"==",
]
SEED = 7628


def messages() -> list[tuple[str, bytes]]:
    rng = random.Random(SEED)
    found = [(kind, each) for kind, good in GOOD.items() for each in good]
    for _ in range(6000):
        kind = rng.choice(list(GOOD))
        data = bytearray(rng.choice(GOOD[kind]))
        for _ in range(rng.choice([1, 1, 2, 3])):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(4):
                case 0:
                    data[at:at] = rng.choice(PIECES)
                case 1:
                    data[at : at + 1] = rng.choice(PIECES)
                case 2:
                    del data[at : at + rng.randrange(1, 4)]
                case 3:
                    end = rng.randrange(at, len(data) + 1)
                    data[at:at] = data[at:end]
        found.append((kind, bytes(data)))
    return found


def read(kind: str, message: bytes) -> list[str]:
    text = message.decode("utf-8", "replace")
    try:
        if kind == "bearer":
            return ["read", *bearer_first(text)]
        if kind == "scram first":
            first = scram_first(text)
            return ["read", first.authzid, first.user, first.nonce]
        final = scram_final(text)
        return ["read", final.nonce, base64.b64encode(base64.b64decode(final.proof)).decode()]
    except NoMessage:
        return ["refused"]


def test_good_messages_are_read():
    assert [read("bearer", one)[1:] for one in GOOD["bearer"]] == [["", "abc.d-e"], ["me", "x=="], ["", "y"]]
    assert read("scram first", GOOD["scram first"][1]) == ["read", "me", "m,e=", "a=b!"]
    assert scram_first("n,,m=x=y,n=me,r=abc,a=b").bare == "m=x=y,n=me,r=abc,a=b"
    assert scram_final("c=biws,r=abc,a=b,p=YWJj") == ("abc", "YWJj", "c=biws,r=abc,a=b")


@pytest.mark.oracle
def test_messages_are_read_as_by_kafka():
    asked = messages()
    lines = "\n".join(f"{kind}\t{base64.b64encode(message).decode()}" for kind, message in asked)
    differing = {}
    said = run_java(Path(__file__).with_name("Messages.java"), stdin=lines).stdout.splitlines()
    for (kind, message), line in zip(asked, said, strict=True):
        word, *fields = line.split("\t")
        kafka = [word, *(base64.b64decode(one).decode() for one in fields)]
        if kind == "scram first" and word == "read":  # Kafka decodes the name later, when it looks for the user
            kafka[2] = kafka[2].replace("=2C", ",").replace("=3D", "=")
        if read(kind, message) != kafka:
            differing[kind, message] = read(kind, message), kafka
    assert differing == {}
    assert min(sum(line.startswith(word) for line in said) for word in ("read", "refused")) > 500
