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
    """A stub to start; every option may be left out."""

    model_config = body_example(name="an order is shipped once", topics={"orders": 3})

    name: Text | None = Field(None, description="name in lists, for example that of the test")
    topics: Names[StrictInt] | Listed = Field(
        default_factory=dict,
        description="topics with their numbers of partitions, or names of topics with one partition each",
    )
    config: Names[Setting] = Field(default_factory=dict, description="Kafka's broker configuration")
    config_file: Path | None = Field(None, description="path of a server.properties; `config` takes precedence")
    profile: Literal["kips", "kafka"] = Field("kips", description="profile: the KIPs, or Kafka 4.x (docs/profiles.md)")
    as_version: Text | None = Field(None, description="Apache Kafka release to imitate (docs/as-version.md)")
    host: Text | None = Field(None, description="address to listen on; 127.0.0.1 by default")
    port: Port | None = Field(None, description="port to listen on; any free port by default")
    advertised: Text | None = Field(None, description="advertised address: HOST:PORT")
    nodes: StrictInt = Field(1, ge=1, le=100, description="number of nodes")
    racks: Listed = Field(default_factory=list, description="racks, assigned to the nodes in turn")
    data_dir: Path | None = Field(
        None, description="path of a data directory, which keeps everything for the next stub"
    )
    snapshot: Path | None = Field(None, description="path of a snapshot file to restore at the start")
    users: Names[StrictStr] | None = Field(None, description="SASL users with their passwords")
    faults: Annotated[UntilRefused[dict[str, Any]], Field(max_length=1000)] = Field(
        default_factory=list, description="fault rules from the start (docs/faults.md)"
    )
    chaos: StrictInt | Text | None = Field(None, description="a seed, or the name of a scenario (docs/chaos.md)")
    chaos_level: StrictInt = Field(1, ge=1, le=3, description="amount of chaos from a seed, 1 to 3")
    journal: StrictBool | Path = Field(
        True, description="whether to record requests, or the path of a new directory for all of them"
    )
    journal_entries: StrictInt | None = Field(None, description="number of newest requests to keep; 10000 by default")
    check: StrictBool = Field(False, description="whether to check guarantees from the start (docs/guarantees.md)")
    control_host: Text = Field("127.0.0.1", description="address that the control port listens on")
    control_port: Port = Field(0, description="control port; 0: any free port")
    control_allowed_hosts: Listed = Field(default_factory=list, description="host names that its control port accepts")
    control_token: StrictStr | None = Field(
        None, description="token for changes at the control port; by default the launcher's token"
    )
    registry: StrictBool = Field(False, description="whether to start a schema registry (docs/registry.md)")
    registry_host: Text = Field("127.0.0.1", description="address that the schema registry listens on")
    registry_port: Port | None = Field(
        None, description="port of the schema registry, which also starts it; 0: any free port"
    )
