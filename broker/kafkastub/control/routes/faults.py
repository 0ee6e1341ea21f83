"""/v1/faults: what goes wrong, and when. Rules are those of `stub.faults` and of YAML files (docs/faults.md)."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field, TypeAdapter

from kafkastub.control.hosted import Hosted
from kafkastub.control.parts import Fault
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import example
from kafkastub.faults import FaultError, FaultRule

_EXAMPLES = {
    "error": {"value": {"api": "OffsetCommit", "error": "NOT_COORDINATOR", "times": 3}},
    "delay": {"value": {"api": "Fetch", "topic": "orders", "delay_ms": 500}},
    "drop": {"value": {"api": "Produce", "drop": "after", "every": 10, "name": "every tenth"}},
}


def _rule_schema() -> dict[str, Any]:
    """The fields of `FaultRule`, as JSON Schema."""
    schema = TypeAdapter(FaultRule).json_schema()
    return {"type": "object", "properties": schema["properties"], "additionalProperties": False}


class FaultState(BaseModel):
    """A rule that is there, and what has come of it."""

    model_config = example(
        id="fault-1", rule={"api": "OffsetCommit", "error": "NOT_COORDINATOR", "times": 3}, hits=1, matched=1
    )

    id: str = Field(description='the rule\'s name, or "fault-1" …; journal and metrics call it so')
    rule: dict[str, Any] = Field(description="what it says")
    hits: int = Field(description="how many requests have met it")
    matched: int = Field(description="how many requests it matched, those that it spared included")


class FaultList(BaseModel):
    """The rules in their order: of those that are due, the first acts."""

    faults: list[FaultState]


class Removed(BaseModel):
    """How many rules are gone."""

    removed: int


def routes(hosted: Hosted) -> APIRouter:
    """The endpoints."""
    router = APIRouter(prefix="/faults", tags=["faults"])

    def find(fault_id: str) -> Fault:
        hosted.running()
        for fault in hosted.faults:
            if fault.id == fault_id:
                return fault
        raise Problem(404, f"there is no fault {fault_id!r}")

    @router.get("", summary="The rules that are there")
    async def list_faults() -> FaultList:
        hosted.running()
        return FaultList(faults=[_state(fault) for fault in hosted.faults])

    @router.post(
        "",
        status_code=201,
        summary="Add a rule",
        openapi_extra={"requestBody": {"content": {"application/json": {"schema": _rule_schema()}}}},
    )
    async def add(rule: Annotated[dict[str, Any], Body(openapi_examples=_EXAMPLES)]) -> FaultState:
        hosted.running()
        try:
            json.dumps(rule, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise Problem(400, "the rule holds half of a surrogate pair, which no text of Kafka can have") from None
        try:
            return _state(hosted.faults.add(FaultRule.from_dict(rule)))
        except FaultError as error:
            raise Problem(400, str(error)) from None

    @router.delete("", summary="Remove all rules")
    async def clear() -> Removed:
        hosted.running()
        gone = len(hosted.faults)
        hosted.faults.clear()
        return Removed(removed=gone)

    @router.get("/{fault_id:path}", summary="One rule")
    async def show(fault_id: str) -> FaultState:
        return _state(find(fault_id))

    @router.delete("/{fault_id:path}", summary="Remove a rule")
    async def remove(fault_id: str) -> Removed:
        find(fault_id).remove()
        return Removed(removed=1)

    return router


def _state(fault: Fault) -> FaultState:
    return FaultState(id=fault.id, rule=fault.rule.to_dict(), hits=fault.hits, matched=fault.matched)
