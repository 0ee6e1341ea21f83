"""Fetch under quotas: who has to wait gets nothing (Kafka: ``KafkaApis.handleFetchRequest``, ``FetchContext``)."""

from __future__ import annotations

from typing import Final

from kafkastub.handlers.context import RequestContext
from kafkastub.handlers.k01_fetch import CONSUMER, Fetch
from kafkastub.layers.quotas import Throttle
from kafkastub.state.fetch_sessions import Answers, FetchPlan
from kafkawire.codec import encoder
from kafkawire.messages.fetch_request import FetchRequest
from kafkawire.messages.fetch_response import FetchResponse

_SIZE: Final = 4
"""Bytes that tell how long a frame is."""


class ThrottledFetch(Fetch):
    """One request, while there are quotas. Followers have none."""

    def __init__(self, ctx: RequestContext, request: FetchRequest, plan: FetchPlan, throttle: Throttle) -> None:
        super().__init__(ctx, request, plan)
        self._throttle = throttle
        self._counts = self.replica_id <= CONSUMER
        if self._counts:
            self.max_bytes = min(self.max_bytes, throttle.most_fetched(ctx))
            self.min_bytes = min(self.min_bytes, self.max_bytes)

    def _respond(self, answers: Answers) -> FetchResponse:
        if not self._counts:
            return super()._respond(answers)
        whole = FetchResponse(responses=self._by_topic(self.plan.news([*answers, *self.unknown])))
        size = _SIZE + sum(map(len, encoder(FetchResponse, self.ctx.api_version)(whole)))
        wait = self._throttle.fetch_ms(self.ctx, size)
        if wait <= 0:
            return super()._respond(answers)
        code, session_id = self.plan.nothing()
        return FetchResponse(throttle_time_ms=wait, error_code=code, session_id=session_id)
