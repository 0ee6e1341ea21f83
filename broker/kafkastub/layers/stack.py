"""Which layers stand between dispatcher and handler, and in which order.

A layer is put around an API's handler when its route is made, and only where the broker has what it is for: a request
pays for no other. Each is loaded when it is first wanted, since start-up is counted in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from kafkastub.handlers.registry import Handler, Registration
from kafkastub.state.broker_state import BrokerState


class Layer(NamedTuple):
    """One of them.

    Attributes:
        is_wanted: whether this broker has to have it.
        wrapped: gives the API's handler with the layer around it.
    """

    is_wanted: Callable[[BrokerState], bool]
    wrapped: Callable[[Registration, BrokerState], Handler]


def _node_routing(api: Registration, state: BrokerState) -> Handler:
    from kafkastub.layers.nodes import on_its_node

    return on_its_node(api)


def _acls(api: Registration, state: BrokerState) -> Handler:
    from kafkastub.layers.acls.guards import guarded

    return guarded(api)


def _durable_replies(api: Registration, state: BrokerState) -> Handler:
    from kafkastub.layers.durable_replies import durable

    assert state.persistence is not None
    return durable(api, state.persistence.disk)


def _quotas(api: Registration, state: BrokerState) -> Handler:
    from kafkastub.layers.quotas import throttled

    assert state.throttle is not None
    return throttled(api, state.throttle)


LAYERS: Final = (
    Layer(lambda state: len(state.cluster.nodes) > 1, _node_routing),
    Layer(lambda state: state.authorizer is not None, _acls),
    Layer(lambda state: state.persistence is not None, _durable_replies),
    Layer(lambda state: state.throttle is not None, _quotas),
)
"""The innermost first: a request goes through the last one first, its reply through the first one."""


def behind_layers(api: Registration, state: BrokerState) -> Handler:
    """The API's handler, with every layer around it that this broker has to have now."""
    for layer in LAYERS:
        if layer.is_wanted(state):
            api = replace(api, handler=layer.wrapped(api, state))
    return api.handler
