"""The application of a proxy's control port: which routes there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkastub.control.app import assembled
from kafkastub.control.in_front import asking, looking, refusing
from kafkastub.control.routes import chaos, events, faults, journal, protocol, quiet

if TYPE_CHECKING:
    from kafkastub.control.in_front.hosted import HostedProxy
    from kafkastub.control.keys import Keys


def make_app(hosted: HostedProxy, keys: Keys | None = None) -> Any:
    """The application that serves one proxy."""
    as_of_a_broker = (faults, chaos, journal, quiet, protocol, events)
    return assembled(
        hosted,
        keys,
        [
            *(subject.routes(hosted) for subject in as_of_a_broker),
            looking.of_v1(hosted),
            asking.of_topics(hosted),
            refusing.of_groups(),
            asking.of_consumer_groups(hosted),
            refusing.routes(),
        ],
        looking.of_health(hosted),
    )
