"""Models that tell a view have what it gains, without a word for it."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from kafkastub.control.routes.view_models import Pair, ViewModel, called, fields_of
from kafkastub.views.of_groups import AnyMember


@dataclass(frozen=True, kw_only=True)
class Bird(AnyMember):
    """A member that has more than others."""

    wings: int
    nests: tuple[tuple[str, int], ...]
    secret: str = ""


class Nest(Pair):
    """Where it lives."""

    tree: str
    branch: int


@fields_of(Bird, without=("group_instance_id", "secret"))
class BirdInfo(ViewModel):
    """A bird."""

    host: str = called("client_host", "where it flies")
    seen_ms: int
    nests: list[Nest] = Field(description="where it lives")


BIRD = Bird(member_id="m", group_instance_id="s", client_id="c", client_host="h", wings=2, nests=(("oak", 3),))


def test_what_a_model_does_not_name_stands_behind_what_it_follows_in_the_view() -> None:
    assert list(BirdInfo.model_fields) == ["member_id", "client_id", "host", "wings", "seen_ms", "nests"]
    assert BirdInfo.model_json_schema()["properties"]["wings"] == {"title": "Wings", "type": "integer"}


def test_a_view_is_told_with_the_names_and_shapes_of_the_model() -> None:
    assert BirdInfo.of(vars(BIRD) | {"seen_ms": 7}).model_dump() == {
        "member_id": "m",
        "client_id": "c",
        "host": "h",
        "wings": 2,
        "seen_ms": 7,
        "nests": [{"tree": "oak", "branch": 3}],
    }
