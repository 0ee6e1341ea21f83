"""docs/openapi.json and docs/launcher.json: the control port and the launcher described, for generators of clients."""

from __future__ import annotations

import json

from kafkastub.config import BrokerConfig
from kafkastub.config.profile import Profile
from kafkastub.control.app import make_app
from kafkastub.control.endpoints import Serving
from kafkastub.control.hosted import Hosted
from kafkastub.launcher.app import make_app as make_launcher
from kafkastub.launcher.stubs import Stubs
from kafkastub.server.logs import library_logger
from kafkastub.stub.chaos import StubChaos
from kafkastub.stub.clock import StubClock
from kafkastub.stub.faults import StubFaults


def openapi() -> str:
    """The document's text; keys are sorted, so that a change shows as what it is."""
    config = BrokerConfig({}, Profile.named("kips"))
    return _text(make_app(Hosted(config, {}, clock=StubClock, faults=StubFaults, chaos=StubChaos)))


def of_launcher() -> str:
    """The same of `kafkastub launcher`."""
    return _text(make_launcher(Stubs(library_logger(), "token", 1)))


def _text(app: Serving) -> str:
    return json.dumps(app.application.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
