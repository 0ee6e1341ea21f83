"""Random histories on the registry and on Apicurio Registry: the same answers, or a difference of docs/registry.md.

Where Apicurio differs, the documentation and the public source of Confluent's registry say what is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from kafkastub import KafkaStub
from tests.registry.apicurio import Apicurio
from tests.registry.histories import Answer, Player, Request, are_same, history

pytestmark = pytest.mark.oracle

SEEDS: Final = 25
STEPS: Final = 25
GLOBAL: Final = Request("PUT", "/config", {"compatibility": "BACKWARD"})


def _is_register(request: Request) -> bool:
    return request.method == "POST" and request.path.startswith("/subjects") and request.path.endswith("/versions")


def _is_check(request: Request) -> bool:
    return request.path.startswith("/compatibility")


def _deletes(request: Request, *, permanent: bool) -> bool:
    return request.method == "DELETE" and request.path.endswith("?permanent=true") == permanent


DIFFERENCES: Final[dict[str, Callable[[Request, Answer, Answer], bool]]] = {
    "error code of an incompatible schema": lambda asked, ours, theirs: (
        _is_register(asked) and (ours.status, ours.code, theirs.status, theirs.code) == (409, 40901, 409, 409)
    ),
    "versions that are no numbers above 0": lambda asked, ours, theirs: ours.code == 42202 and theirs.status == 404,
    "deletions in the wrong order": lambda asked, ours, theirs: (
        asked.method == "DELETE"
        and ours.code == theirs.code
        and ours.code in (40404, 40405, 40406, 40407)
        and (ours.status, theirs.status) == (404, 409)
    ),
    "deleting the latest version for good where it is deleted": lambda asked, ours, theirs: (
        _deletes(asked, permanent=True)
        and "/latest" in asked.path
        and ours.status == 200
        and theirs.code in (40402, 40407)
    ),
    "versions that a deletion of a subject names": lambda asked, ours, theirs: (
        _deletes(asked, permanent=False)
        and isinstance(ours.body, list)
        and isinstance(theirs.body, list)
        and set(ours.body) < set(theirs.body)
    ),
    "a subject without settings of its own": lambda asked, ours, theirs: (
        asked.path.startswith("/config/") and ours.code in (40401, 40408)
    ),
    "looking up in a subject whose versions are all deleted": lambda asked, ours, theirs: (
        asked.method == "POST" and (ours.code, theirs.code) == (40401, 40403)
    ),
    "compatibility with a subject that has no versions": lambda asked, ours, theirs: (
        _is_check(asked) and ours.body == {"is_compatible": True} and theirs.code == 40401
    ),
    "compatibility with a version that is deleted": lambda asked, ours, theirs: (
        _is_check(asked) and ours.code == 40402 and theirs.status == 200
    ),
}


@pytest.fixture(scope="module")
def apicurio() -> Iterator[Apicurio]:
    with Apicurio() as server:
        yield server


def test_random_histories_have_the_same_answers_or_a_known_difference(apicurio: Apicurio) -> None:
    unknown: list[str] = []
    with KafkaStub(registry=True) as stub:
        ours, theirs = Player(stub.registry.url), Player(apicurio.url)
        assert are_same(ours.play(GLOBAL, ""), theirs.play(GLOBAL, ""))
        for kind in ("AVRO", "JSON", "PROTOBUF"):
            for seed in range(SEEDS):
                unknown += _compared(ours, theirs, kind, seed)
        ours.close()
        theirs.close()
    assert not unknown, "\n".join(unknown[:3])


def _compared(ours: Player, theirs: Player, kind: str, seed: int) -> list[str]:
    """What is no known difference in a history, up to where the registries are no longer in the same state."""
    trail: list[str] = []
    for asked in history(seed, kind, STEPS):
        one, other = ours.play(asked, f"{kind.lower()}-{seed}-"), theirs.play(asked, f"{kind.lower()}-{seed}-")
        trail.append(f"{asked}\n    ours   {one}\n    theirs {other}")
        if not are_same(one, other) and not any(holds(asked, one, other) for holds in DIFFERENCES.values()):
            return ["\n".join([f"{kind} {seed}", *trail])]
        changes = asked.method in ("DELETE", "PUT") or _is_register(asked)
        if changes and (one.status < 400) != (other.status < 400):
            break
        if asked.method == "DELETE" and asked.path.startswith("/config/"):
            break  # theirs has the level NONE from then on
    return []
