"""/v1/config and /v1/reset: what the broker goes by, and a fresh one in its place."""

from __future__ import annotations

from pydantic import BaseModel, Field

from kafkastub.config import BrokerConfig
from kafkastub.config.own import OWN, PROFILE
from kafkastub.control.endpoints import Endpoints
from kafkastub.control.hosted import Hosted
from kafkastub.control.problems import Problem
from kafkastub.control.routes.shapes import example
from kafkastub.state.configs.entries import broker_entries
from kafkastub.version import __version__
from kafkawire.errors import KafkaError


class ConfigInfo(BaseModel):
    """The broker's configuration."""

    model_config = example(
        version="1.0.0",
        profile="kips",
        bootstrap_servers="127.0.0.1:9092",
        topics={"orders": 3},
        set={"offsets.retention.minutes": "60"},
        kafka={"group.max.size": "2147483647"},
        kafkastub={"kafkastub.flush": "1000ms"},
    )

    version: str = Field(description="version of kafkastub")
    profile: str
    bootstrap_servers: str
    topics: dict[str, int] = Field(description="topics that were given at the start")
    set: dict[str, str | None] = Field(
        description="values that were set at the start or by clients; passwords are null"
    )
    kafka: dict[str, str | None] = Field(description="Kafka's configurations with their values; passwords are null")
    kafkastub: dict[str, str | None] = Field(description="the stub's own configurations; passwords are null")


class ResetInfo(BaseModel):
    """The broker after the reset."""

    model_config = example(bootstrap_servers="127.0.0.1:9092", topics=["orders"])

    bootstrap_servers: str
    topics: list[str]


def routes(hosted: Hosted) -> Endpoints:
    """The endpoints."""
    router = Endpoints(tags=["broker"])

    @router.get("/config", summary="Return the broker's configuration")
    async def config() -> ConfigInfo:
        broker = hosted.running()
        found = broker.config
        kafka = {entry.name: entry.value for entry in broker_entries(found)}
        given = {**found.static, **found.dynamic_default, **found.dynamic_broker}
        return ConfigInfo(
            version=__version__,
            profile=found.profile.name,
            bootstrap_servers=broker.bootstrap_servers,
            topics=hosted.topics,
            set={name: kafka.get(name) for name in given},
            kafka={name: value for name, value in kafka.items() if name in found},
            kafkastub={name: _told(found, name) for name in (*OWN, *PROFILE)},
        )

    @router.post("/reset", summary="Reset the broker to its state at the start, at the same address")
    async def reset() -> ResetInfo:
        try:
            fresh = await hosted.reset()
        except (KafkaError, OSError) as error:
            raise Problem(500, f"the broker cannot be reset: {error}") from None
        return ResetInfo(bootstrap_servers=fresh.bootstrap_servers, topics=list(fresh.state.cluster.topics))

    return router


def _told(config: BrokerConfig, name: str) -> str | None:
    """The value of a configuration of the stub's own as text; None of a password, whether there is one or not."""
    return None if name in OWN and OWN[name][0] == "password" else str(config[name])
