"""What a stub is asked to be: the options of `kafkastub serve`, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, StringConstraints

from kafkastub.control.routes.shapes import MOST_LISTED, Body, Names, Text, UntilRefused, body_example

_LAST_PORT: Final = 65535

Port = Annotated[StrictInt, Field(ge=0, le=_LAST_PORT)]
Path = Annotated[StrictStr, StringConstraints(min_length=1, max_length=4000)]
Setting = StrictBool | StrictInt | StrictFloat | Text
Listed = Annotated[UntilRefused[Text], Field(max_length=MOST_LISTED)]
"""Names, one by one."""


class StubOptions(Body):
    """A stub to be started; all of it may be left out."""

    model_config = body_example(name="an order is shipped once", topics={"orders": 3})

    name: Text | None = Field(None, description="shown in lists, for example the name of the test")
    topics: Names[StrictInt] | Listed = Field(
        default_factory=dict, description="topics with their numbers of partitions, or names of topics with one each"
    )
    config: Names[Setting] = Field(default_factory=dict, description="Kafka's broker configuration")
    config_file: Path | None = Field(None, description="path of a server.properties; `config` wins over it")
    profile: Literal["kips", "kafka"] = Field("kips", description="the KIPs, or Kafka 4.x (docs/profiles.md)")
    as_version: Text | None = Field(None, description="serve as this Apache Kafka release does (docs/as-version.md)")
    host: Text | None = Field(None, description="address to listen on; 127.0.0.1 if nothing is said")
    port: Port | None = Field(None, description="port to listen on; any free one if nothing is said")
    advertised: Text | None = Field(None, description="what clients are told to connect to: HOST:PORT")
    nodes: StrictInt = Field(1, ge=1, le=100, description="nodes of the cluster")
    racks: Listed = Field(default_factory=list, description="racks of the nodes, dealt out in turn")
    data_dir: Path | None = Field(None, description="path of the folder that keeps everything for the next stub")
    snapshot: Path | None = Field(None, description="path of a snapshot's file, which the stub begins with")
    users: Names[StrictStr] | None = Field(None, description="users with their passwords, for SASL")
    faults: Annotated[UntilRefused[dict[str, Any]], Field(max_length=1000)] = Field(
        default_factory=list, description="fault rules that are there from the start (docs/faults.md)"
    )
    chaos: StrictInt | Text | None = Field(None, description="a seed, or the name of a scenario (docs/chaos.md)")
    chaos_level: StrictInt = Field(1, ge=1, le=3, description="how much chaos a seed brings")
    journal: StrictBool | Path = Field(
        True, description="whether requests are kept, or the path of a new folder for all"
    )
    journal_entries: StrictInt | None = Field(None, description="how many of the newest requests are kept; 10000")
    check: StrictBool = Field(False, description="check guarantees from the start (docs/guarantees.md)")
    control_host: Text = Field("127.0.0.1", description="address of the control port")
    control_port: Port = Field(0, description="the control port, 0 for any free one")
    control_allowed_hosts: Listed = Field(default_factory=list, description="names by which it may be asked")
    control_token: StrictStr | None = Field(
        None, description="what changes at the control port need; the launcher's own token if nothing is said"
    )
    registry: StrictBool = Field(False, description="whether there is a schema registry (docs/registry.md)")
    registry_host: Text = Field("127.0.0.1", description="address of the schema registry")
    registry_port: Port | None = Field(None, description="its port, which also says that there is one; 0: any free one")
