"""Configurations of groups (KIP-848, KIP-932), set over the wire on any broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafkastub.client import Client
from kafkastub.client.errors import BrokerError
from kafkawire.messages.describe_configs_request import DescribeConfigsRequest, DescribeConfigsResource
from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.clients.client import until

GROUP: Final = 32
"""The type of a group among the resources that have a configuration."""
SET: Final = 0


def configure(client: Client, group: str, wanted: Mapping[str, object]) -> None:
    """Configure a group, and wait until the broker has learnt of it. Raises BrokerError."""
    values = {key: str(value) for key, value in wanted.items()}
    configs = [AlterableConfig(key, SET, value) for key, value in values.items()]
    (answer,) = client.ask_controller(
        IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP, group, configs)])
    ).responses
    if answer.error_code:
        raise BrokerError(answer.error_code, answer.error_message)
    asked = DescribeConfigsRequest([DescribeConfigsResource(GROUP, group, list(values))])

    def known() -> bool:
        (found,) = client.ask(asked).results
        return {one.name: one.value for one in found.configs} == values

    until(known, f"{group} with {values}")
