"""A list of acts in the place of a seed: it does the same, to the requests that it names, and says what it leaves."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkastub import ChaosAct, FaultError, KafkaProxy, KafkaStub
from kafkastub.client import Client
from kafkastub.faults import Chaos, PlayedChaos
from kafkastub.faults.acts import HELD_BACK, MOVES, as_source
from kafkastub.faults.chaos import LEVELS, Move
from kafkastub.faults.trouble import TROUBLE
from kafkawire.api import ApiKey
from kafkawire.errors import ErrorCode
from kafkawire.messages.find_coordinator_request import FindCoordinatorRequest
from tests.chaos.test_chaos import commits
from tests.cli.kafkas_tools import run
from tests.conftest import CONFIG
from tests.control.conftest import Http

ANY: Any = SimpleNamespace(session_id=7, acks=-1, topics=["orders"], transactional_id="shop", member_epoch=3)


def route(key: ApiKey, version: int = 8) -> Any:
    return SimpleNamespace(key=key, version=version)


@st.composite
def acts(draw: st.DrawFn) -> ChaosAct:
    key = draw(st.sampled_from(list(TROUBLE)))
    trouble, nth = TROUBLE[key], draw(st.integers(1, 9))
    who: Any = {"client_id": draw(st.sampled_from([None, "shop-*"]))}
    what = draw(st.sampled_from(["error", "delay_ms", "drop", "behind", "moves"]))
    if what == "error" and trouble.errors:
        return ChaosAct(key.camel, nth, error=draw(st.sampled_from(trouble.errors)).name, **who)
    if what == "drop" and trouble.lost:
        return ChaosAct(key.camel, nth, drop=draw(st.sampled_from(["before", "after"][: 1 + trouble.behind])), **who)
    if what == "behind" and key in HELD_BACK:
        return ChaosAct(key.camel, nth, behind="EndTxn", transactional_id="shop", **who)
    if what == "moves":
        kind = draw(st.sampled_from(list(MOVES)))
        values: Any = {"group": "g", "member": 1, "topic": "orders", "partition": 0, "node": 2}
        return ChaosAct(key.camel, nth, moves=kind, **{name: values[name] for name in MOVES[kind]}, **who)
    return ChaosAct(key.camel, nth, delay_ms=draw(st.integers(1, 100)), **who)


@given(acts())
def test_an_act_says_itself_in_python_and_as_data(act: ChaosAct) -> None:
    assert eval(repr(act), {"ChaosAct": ChaosAct}) == act
    assert ChaosAct.from_dict(json.loads(json.dumps(act.to_dict()))) == act
    assert eval(as_source([act, act]), {"ChaosAct": ChaosAct}) == [act, act]
    assert act.api in str(act)


@given(
    seed=st.integers(0, 2**32),
    level=st.sampled_from(list(LEVELS)),
    asked=st.lists(st.sampled_from(list(TROUBLE)), max_size=200),
)
def test_what_a_seed_has_done_is_played_without_it(seed: int, level: int, asked: list[ApiKey]) -> None:
    by_seed = Chaos(seed, level)
    by_seed.moves_by(lambda move: by_seed.moved(move, "moves", "session", {"member": 0}))
    first = [by_seed.match(route(key), ANY) for key in asked]
    again = [act.again for act in by_seed.acts]
    played = PlayedChaos([act for act in again if act is not None])
    moved: list[Move] = []
    played.moves_by(moved.append)
    assert [played.match(route(key), ANY) for key in asked] == first
    assert played.left == 0
    assert len(moved) == sum(act is not None and act.moves is not None for act in again)


def test_an_act_waits_for_a_request_that_can_have_it() -> None:
    chaos = PlayedChaos([ChaosAct("Fetch", 2, error="FETCH_SESSION_ID_NOT_FOUND")])
    sessionless = SimpleNamespace(session_id=0)
    assert [chaos.match(route(ApiKey.FETCH, 12), sessionless) for _ in range(5)] == [None] * 5
    met = chaos.match(route(ApiKey.FETCH, 12), SimpleNamespace(session_id=9))
    assert met is not None
    assert met.error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert [act.what for act in chaos.acts] == ["Fetch #6: FETCH_SESSION_ID_NOT_FOUND"]


def test_requests_are_counted_of_those_alone_whom_it_is_for() -> None:
    chaos = PlayedChaos(
        [
            ChaosAct("Produce", 2, delay_ms=5, client_id="shop-*"),
            ChaosAct("EndTxn", 1, drop="before", transactional_id="b"),
        ]
    )
    met = [
        chaos.match(route(ApiKey.PRODUCE), ANY, SimpleNamespace(client_id=name)) is not None
        for name in ("shop-1", "other", None, "shop-2", "shop-3")
    ]
    assert met == [False, False, False, True, False]
    ended = [chaos.match(route(ApiKey.END_TXN), SimpleNamespace(transactional_id=one)) is not None for one in "aabb"]
    assert ended == [False, False, True, False]


def test_what_cannot_move_yet_moves_behind_a_later_request() -> None:
    chaos = PlayedChaos([ChaosAct("Heartbeat", 2, moves="session")])
    asked: list[Move] = []

    def move(wanted: Move) -> None:
        asked.append(wanted)
        if len(asked) < 3:
            chaos.missed(wanted)
        else:
            chaos.moved(wanted, "it ends", "session", {"group": "g", "member": 0})

    chaos.moves_by(move)
    for _ in range(10):
        assert chaos.match(route(ApiKey.HEARTBEAT), ANY) is None
    assert len(asked) == 3
    assert [act.again for act in chaos.acts] == [ChaosAct("Heartbeat", 4, moves="session", group="g", member=0)]


@pytest.mark.parametrize(
    ("named", "why"),
    [
        (
            {"api": "OfsetCommit", "delay_ms": 1},
            "api='OfsetCommit' is refused: chaos does nothing to it. Did you mean OffsetCommit",
        ),
        ({"api": "ApiVersions", "delay_ms": 1}, "api='ApiVersions' is refused"),
        ({"api": "Fetch"}, "exactly one of error, delay_ms, drop, behind, moves, and has 0"),
        ({"api": "Fetch", "delay_ms": 1, "drop": "after"}, "and has 2"),
        ({"api": "Fetch", "delay_ms": 0}, "delay_ms=0 is refused: it must be a whole number from 1 to"),
        ({"api": "Fetch", "nth": 0, "delay_ms": 1}, "nth=0 is refused"),
        (
            {"api": "Fetch", "error": "UNKNOWN_SERVER_ERROR"},
            "chaos returns FETCH_SESSION_ID_NOT_FOUND for",
        ),
        ({"api": "JoinGroup", "drop": "after"}, "drop='after' is refused: for JoinGroup it must be 'before'"),
        ({"api": "Metadata", "drop": "before"}, "drop='before' is refused: for Metadata it must be left out"),
        ({"api": "Fetch", "behind": "Produce"}, "behind='Produce' is refused: only Produce, "),
        ({"api": "EndTxn", "behind": "Fetch"}, "behind='Fetch' is refused: it must be one of Produce"),
        ({"api": "Fetch", "moves": "sessions"}, "moves='sessions' is refused: it must be one of session"),
        ({"api": "Fetch", "moves": "leader", "group": "g"}, "group='g' is refused: moves='leader' has no group"),
        ({"api": "Fetch", "delay_ms": 1, "node": 1}, "node=1 is refused"),
        ({"api": "Fetch", "delay_ms": 1, "client_id": 7}, "client_id=7 is refused: it must be a string"),
        ({"api": "Fetch", "delay": 1}, "delay is refused: the fields of an act are api, nth"),
        ({"delay_ms": 1}, "api is missing"),
    ],
)
def test_what_is_no_act_is_refused(named: dict[str, Any], why: str) -> None:
    with pytest.raises(FaultError, match=why):
        ChaosAct.from_dict(named)


@pytest.mark.parametrize("chaos", [[1], [ChaosAct("Fetch", delay_ms=1), 7], [ChaosAct("Fetch", delay_ms=1)] * 1001])
def test_what_is_no_list_of_acts_is_refused(chaos: Any) -> None:
    with pytest.raises(FaultError, match=r"must be a seed|1000 acts at most"):
        KafkaStub(chaos=chaos)


# -- on a broker -----------------------------------------------------------------------------------------------------


def test_a_stub_plays_them() -> None:
    wanted = [ChaosAct("OffsetCommit", 2, error="NOT_COORDINATOR"), ChaosAct("OffsetCommit", 4, drop="after")]
    with KafkaStub(topics=["orders"], config=CONFIG, chaos=wanted) as stub:
        assert commits(stub, 5)[:5] == ["None", "chaos", "None", "chaos", "None"]  # who was refused asks again
        assert [act.again for act in stub.chaos.acts] == wanted
        assert (stub.chaos.left, stub.chaos.seed, stub.chaos.running) == (0, None, True)
        stub.chaos.play([ChaosAct("OffsetCommit", delay_ms=1)])
        assert repr(stub.chaos) == "<chaos of 1 acts>"
        assert stub.chaos.told() == "a list of 1 acts, 1 still to come"
        before = len(stub.journal.requests(api="OffsetCommit"))
        assert commits(stub, 1)[before] == "chaos"
        stub.chaos.start(5)
        assert stub.chaos.played is None


def test_a_seed_is_played_again_act_by_act() -> None:
    with KafkaStub(topics=["orders"], config=CONFIG, chaos=5, chaos_level=3) as stub:
        said = commits(stub, 30)
        acts = [act.again for act in stub.chaos.acts if act.again is not None]
    assert acts
    with KafkaStub(topics=["orders"], config=CONFIG, chaos=acts) as stub:
        assert commits(stub, 30) == said


def test_leaders_and_nodes_move() -> None:
    with KafkaStub(topics={"orders": 2}, nodes=3, config=CONFIG) as stub:
        to = next(node for node in (1, 2) if node != stub.nodes.leader_of("orders", 1))
        wanted = [
            ChaosAct("FindCoordinator", 1, moves="leader", topic="orders", partition=1, node=to),
            ChaosAct("FindCoordinator", 2, moves="stop", node=3),
            ChaosAct("FindCoordinator", 3, moves="coordinators"),
            ChaosAct("FindCoordinator", 4, moves="start"),
        ]
        stub.chaos.play(wanted)
        with Client(stub.bootstrap_servers) as client:
            while stub.chaos.left or len(stub.chaos.acts) < len(wanted):
                client.ask(FindCoordinatorRequest(key="g", coordinator_keys=["g"]))
        assert sorted(act.what for act in stub.chaos.acts) == [  # nodes take their time, and others do not wait
            f"node {to} leads orders-1", "node 3 is back", "node 3 stops", "the coordinators are loaded anew",
        ]  # fmt: skip
        assert stub.nodes[3].running


def test_a_proxy_plays_the_same() -> None:
    wanted = [
        ChaosAct("OffsetCommit", 2, error="NOT_COORDINATOR"),
        ChaosAct("OffsetCommit", 3, moves="connections"),
        ChaosAct("OffsetCommit", 4, drop="before"),
    ]
    with (
        KafkaStub(topics=["orders"], config=CONFIG) as stub,
        KafkaProxy(stub.bootstrap_servers, chaos=wanted) as proxy,
    ):
        commits(proxy, 6)  # type: ignore[arg-type]
        assert [str(act.again and act.again.api) for act in proxy.chaos.acts] == ["OffsetCommit"] * 3
        assert [entry.fault for entry in proxy.journal.requests(api="OffsetCommit")].count("chaos") == 2


def test_over_http_and_by_command(tmp_path: Path) -> None:
    wanted = [{"api": "OffsetCommit", "nth": 1, "error": "NOT_COORDINATOR"}]
    with KafkaStub(topics=["orders"], config=CONFIG, control_port=0) as stub:
        http = Http(stub.control_url)
        with http.client:
            assert http.good("PUT", "/v1/chaos", {"acts": wanted})["played"] == 1
            assert commits(stub, 1)[0] == "chaos"
            shown = http.good("GET", "/v1/chaos")
            assert [act["again"] for act in shown["acts"]] == wanted
            assert (shown["left"], shown["seed"]) == (0, None)
            assert "one of seed, acts and scenario" in http.refusal("PUT", "/v1/chaos", {"acts": wanted, "seed": 1})
            assert "nth=0" in http.refusal("PUT", "/v1/chaos", {"acts": [{**wanted[0], "nth": 0}]})
        file = tmp_path / "acts.json"
        file.write_text(json.dumps(wanted))
        done = run("chaos", "play", str(file), "--control", stub.control_url)
        assert (done.status, done.out) == (0, "1 acts, 1 to come\n")
        file.write_text("no")
        assert run("chaos", "play", str(file), "--control", stub.control_url).status == 2
        assert run("chaos", "play", str(tmp_path / "none"), "--control", stub.control_url).status == 2
