"""What AlterConfigs and IncrementalAlterConfigs (keys 33 and 44) are: one way, with a row each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from kafkastub.handlers.context import RequestContext
from kafkastub.state.configs.changes import alter
from kafkastub.state.configs.operations import Change
from kafkawire.error_texts import default_text
from kafkawire.errors import ErrorCode, KafkaError
from kafkawire.schema import Message

Resource = tuple[int, str]
"""Its type and its name."""


class ConfigsChange(NamedTuple):
    """One of the two.

    Attributes:
        response: the message of the answer …
        of_resource: … and what it has of a resource.
        replace: whether what is not named is back at its default.
    """

    response: type[Any]
    of_resource: type[Any]
    replace: bool

    def error_response(self, request: Any, code: ErrorCode, version: int) -> Message:
        """The code at every resource, with its text."""
        text = default_text(code)
        return self._answer([self.of_resource(code, text, *named(one)) for one in request.resources])

    def answer(
        self,
        ctx: RequestContext,
        resources: Iterable[tuple[Resource, Sequence[Change]]],
        repeated: Collection[Resource],
        *,
        validate_only: bool,
        fails: Callable[[Resource, Sequence[Change]], bool] = lambda resource, changes: False,
    ) -> Message:
        """What came of each.

        Args:
            repeated: those that are named more than once.
            fails: whether Kafka fails at a resource, for another one's sake.
        """
        responses = []
        for resource, changes in resources:
            code, text = ErrorCode.NONE, None
            if resource in repeated:
                code, text = ErrorCode.INVALID_REQUEST, "Each resource must appear at most once."
            elif fails(resource, changes):
                code = ErrorCode.UNKNOWN_SERVER_ERROR
            else:
                try:
                    alter(
                        ctx.state,
                        ctx.node_id,
                        resource,
                        changes,
                        replace=self.replace,
                        validate_only=validate_only,
                        pace=ctx.pace,
                    )
                except KafkaError as error:
                    code, text = error.code, error.message
            responses.append(self.of_resource(code, text, *resource))
        return self._answer(responses)

    def _answer(self, responses: list[Any]) -> Message:
        answer: Message = self.response(responses=responses)
        return answer


def named(resource: Any) -> Resource:
    """What a request's resource is."""
    return resource.resource_type, resource.resource_name
