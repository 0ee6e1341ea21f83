"""The application of a proxy's control port: which routes there are, and which of them need the token."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fastapi import Request

from kafkastub.control.app import application, parts
from kafkastub.control.endpoints import Endpoints, Serving, Shared
from kafkastub.control.in_front import asking, looking, refusing
from kafkastub.control.in_front.guarding import Guarding
from kafkastub.control.routes import causes, chaos, check, events, faults, journal, protocol, quiet

if TYPE_CHECKING:
    from kafkastub.control.in_front.hosted import HostedProxy
    from kafkastub.control.keys import Keys


def make_app(hosted: HostedProxy, keys: Keys | None = None) -> Serving:
    """The application that serves one proxy."""
    as_of_a_broker = (faults, check, causes, quiet, protocol, events)
    guarding = Guarding(hosted, keys)
    subjects = [
        *(subject.routes(hosted) for subject in as_of_a_broker),
        _guarded(chaos.routes(hosted), guarding.changes),
        _guarded(journal.routes(hosted), guarding.journal),
        looking.of_v1(hosted, guarding),
        _guarded(asking.of_topics(hosted), guarding.cluster),
        refusing.of_groups(),
        _guarded(asking.of_consumer_groups(hosted), guarding.cluster),
        refusing.routes(),
    ]
    return _OF_PROXIES.serving(parts(hosted, keys, subjects, looking.of_health(hosted, guarding)))


def _guarded(endpoints: Endpoints, check: Callable[[Request], None]) -> Endpoints:
    """The same endpoints, which `check` is asked about first."""

    async def checked(request: Request) -> None:
        check(request)

    endpoints.checks.append(checked)
    return endpoints


_OF_PROXIES: Final = Shared(application)
