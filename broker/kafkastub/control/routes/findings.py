"""/v1/groups/{group}/findings: why its members get no records, as far as the broker can see it."""

from __future__ import annotations

from pydantic import BaseModel, Field

from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.routes.of_groups import existing_group, loaded
from kafkastub.control.routes.shapes import example
from kafkastub.control.walks import Walks
from kafkastub.findings.finding import Finding, Level, Subject
from kafkastub.findings.groups import LEVELS, MOST, of_group


class GroupFinding(BaseModel):
    """A finding."""

    level: Level = Field(
        description="stop: this keeps records from members; look: this may do so; fine: this is in order"
    )
    sentence: str
    subject: Subject = Field(description="kind of thing that the finding is about")
    name: str = Field(description="name of the subject: a group, a member id, a topic, a node id, a transactional id …")
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


class FindingList(BaseModel):
    """Findings, the most severe first."""

    model_config = example(
        group="shipping", findings=[
            {
                "level": "stop", "sentence": "The group has no members: nobody asks for records.", "subject": "group",
                "name": "shipping",
            }
        ],
    )  # fmt: skip

    group: str
    findings: list[GroupFinding]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoint."""
    router = Endpoints(prefix="/groups", tags=["groups"])
    walks = Walks()

    @router.get(
        "/{group:path}/findings",
        summary="Explain why members of the group receive no records, as far as the broker can see",
    )
    async def list_findings(group: str) -> FindingList:
        existing_group(hosted, group)
        found = await findings_of(hosted, walks, group)
        return FindingList(group=group, findings=[GroupFinding(**one._asdict()) for one in found])

    return router


async def findings_of(hosted: Hosted, walks: Walks, group: str) -> list[Finding]:
    """What stops first; nothing of a group that is not there."""
    found: list[Finding] = []
    async for one in walks.through(of_group(hosted, loaded(hosted), group)):
        found.append(one)
        if len(found) == MOST:
            break
    return sorted(found, key=lambda one: LEVELS.index(one.level))
