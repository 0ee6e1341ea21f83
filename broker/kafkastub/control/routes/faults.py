"""/v1/faults: what goes wrong, and when. Rules are those of `stub.faults` and of YAML files (docs/faults.md)."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Annotated, Any

from fastapi import Body, Query, Request
from pydantic import BaseModel, ConfigDict, Field, StrictInt, TypeAdapter

from kafkastub.control.connections import Places
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.parts import Fault
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import body_example, example
from kafkastub.control.waiting import LONGEST_WAIT, MOST_WAITING, while_there
from kafkastub.faults import FaultError, FaultRule

_EXAMPLES = {
    "error": {"value": {"api": "OffsetCommit", "error": "NOT_COORDINATOR", "times": 3}},
    "delay": {"value": {"api": "Fetch", "topic": "orders", "delay_ms": 500}},
    "hold": {"value": {"api": "JoinGroup", "group": "shipping", "hold": "before"}},
    "drop": {"value": {"api": "Produce", "drop": "after", "every": 10, "name": "every tenth"}},
}


@cache
def _rule_schema() -> dict[str, Any]:
    """The fields of `FaultRule`, as JSON Schema: to make it takes longer than to start a stub."""
    schema = TypeAdapter(FaultRule).json_schema()
    return {"type": "object", "properties": schema["properties"], "additionalProperties": False}


class HeldRequest(BaseModel):
    """A request that waits until it is released."""

    api: str
    version: int
    connection: int = Field(description="number of its connection, as in the journal")
    client_id: str | None
    number: int = Field(description="counted from 1 in the order in which the rule held them")
    since: float = Field(description="Unix time in seconds, by the machine's clock")


class FaultState(BaseModel):
    """A rule, and what it has done."""

    model_config = example(
        id="fault-1", rule={"api": "OffsetCommit", "error": "NOT_COORDINATOR", "times": 3}, hits=1, matched=1, held=[]
    )

    id: str = Field(description='the rule\'s name, or "fault-1" and so on; the journal and metrics use it')
    rule: dict[str, Any] = Field(description="the rule itself")
    hits: int = Field(description="how often the rule has fired")
    matched: int = Field(description="number of requests that matched, those that passed unchanged included")
    held: list[HeldRequest] = Field(description="requests that wait now, in the order of their arrival")


class FaultList(BaseModel):
    """The rules in their order; the first one that is due acts."""

    faults: list[FaultState]


class WaitQuery(BaseModel):
    """For what, and how long."""

    model_config = ConfigDict(extra="forbid")

    hits: int | None = Field(None, ge=0, description="until the rule has fired this often; 1 by default")
    held: int | None = Field(None, ge=0, description="until it holds at least this many requests")
    timeout: float = Field(5, ge=0, le=LONGEST_WAIT, allow_inf_nan=False, description="seconds")


class Release(BaseModel):
    """Which requests to release; all of them by default."""

    model_config = body_example(n=1)

    n: StrictInt | None = Field(None, ge=0, description="the first n requests")
    connection: StrictInt | None = Field(None, ge=0, description="only requests of the connection with this number")


class Released(BaseModel):
    """How many requests were released."""

    model_config = example(released=1)

    released: int


class RemovedFaults(BaseModel):
    """How many rules were removed."""

    removed: int


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(prefix="/faults", tags=["faults"])
    waiting = Places(MOST_WAITING, "requests are waiting")

    def find(fault_id: str) -> Fault:
        hosted.running()
        for fault in hosted.faults:
            if fault.id == fault_id:
                return fault
        raise Problem(404, f"there is no fault {fault_id!r}")

    @router.get("", summary="List the fault rules")
    async def list_faults() -> FaultList:
        hosted.running()
        return FaultList(faults=[_state(fault) for fault in hosted.faults])

    @router.post(
        "",
        status_code=201,
        summary="Add a fault rule",
        openapi_extra={"requestBody": {"content": {"application/json": {"schema": _rule_schema()}}}},
    )
    async def add(rule: Annotated[dict[str, Any], Body(openapi_examples=_EXAMPLES)]) -> FaultState:
        hosted.running()
        try:
            FaultRule.check_size(rule)
            json.dumps(rule, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Problem(400, "the rule holds half of a surrogate pair, which no text of Kafka can have") from None
        except FaultError as error:
            raise Problem(400, str(error)) from None
        try:
            return _state(hosted.faults.add(FaultRule.from_dict(rule)))
        except FaultError as error:
            raise Problem(400, str(error)) from None

    @router.delete("", summary="Remove all fault rules")
    async def clear() -> RemovedFaults:
        hosted.running()
        gone = len(hosted.faults)
        hosted.faults.clear()
        return RemovedFaults(removed=gone)

    @router.get(
        "/{fault_id:path}/wait",
        summary="Wait until a rule has fired, or holds, a number of requests; 408 after the timeout",
    )
    async def wait(fault_id: str, query: Annotated[WaitQuery, Query()], request: Request) -> FaultState:
        fault = find(fault_id)
        waiting.take(request.state.connection)
        hits, held = query.hits, query.held or 0
        if hits is None:
            hits = 0 if held else 1
        await while_there(request, _wait(hosted, fault, hits, held, query.timeout))
        return _state(fault)

    @router.post("/{fault_id:path}/release", summary="Release requests that a rule with `hold` keeps")
    async def release(fault_id: str, wanted: Release | None = None) -> Released:
        n, connection = (None, None) if wanted is None else (wanted.n, wanted.connection)
        return Released(released=find(fault_id).release(n, connection))

    @router.get("/{fault_id:path}", summary="Return a fault rule")
    async def show(fault_id: str) -> FaultState:
        return _state(find(fault_id))

    @router.delete("/{fault_id:path}", summary="Remove a fault rule")
    async def remove(fault_id: str) -> RemovedFaults:
        find(fault_id).remove()
        return RemovedFaults(removed=1)

    return router


async def _wait(hosted: Hosted, fault: Fault, hits: int, held: int, seconds: float) -> None:
    """Raises Problem."""
    come: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def look() -> None:
        if not come.done() and fault.hits >= hits and len(fault.held) >= held:
            come.set_result(None)

    watchers = hosted.faults.watchers
    watchers.append(look)
    try:
        look()
        await hosted.wait(come, seconds)
    except TimeoutError:
        raise Problem(
            408, f"fault {fault.id} was met by {fault.hits} requests after {seconds:g} s and holds {len(fault.held)}"
        ) from None
    finally:
        watchers.remove(look)


def _state(fault: Fault) -> FaultState:
    held = [HeldRequest(**request._asdict()) for request in fault.held]
    return FaultState(id=fault.id, rule=fault.rule.to_dict(), hits=fault.hits, matched=fault.matched, held=held)
