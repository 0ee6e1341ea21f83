"""docs/openapi.json: the description of the control port, as /openapi.json gives it, for generators of clients."""

from __future__ import annotations

import json

from kafkastub.config import BrokerConfig
from kafkastub.config.profile import Profile
from kafkastub.control.app import make_app
from kafkastub.control.hosted import Hosted
from kafkastub.stub.chaos import StubChaos
from kafkastub.stub.clock import StubClock
from kafkastub.stub.faults import StubFaults


def openapi() -> str:
    """The document's text; keys are sorted, so that a change shows as what it is."""
    config = BrokerConfig({}, Profile.named("kips"))
    app = make_app(Hosted(config, {}, clock=StubClock, faults=StubFaults, chaos=StubChaos))
    return json.dumps(app.application.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
