"""What differs from run to run in the answers of a cluster's administration; the table is in the module `names`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from kafkastub_conformance.differential.bodies import Json
from kafkastub_conformance.differential.names import Names, is_near
from kafkawire.errors import ErrorCode

OF_TOKENS = {"DescribeDelegationToken": "timestamp", "CreateDelegationToken": "timestamp_ms"}
"""APIs that tell a token's times, and how their fields' names end."""

STEP_MINUTES = 10
"""Times are told by so much: no scenario takes half of it, and periods are multiples of it."""

CONTROLLER = re.compile(r"(?<=Local controller )\d+")
CLUSTER = re.compile(r'(?<=the cluster id ")[\w-]{22}')


def learn_given(names: Names, kind: str, said: Any) -> None:
    """Name tokens that were made, and the directories of a broker that has several."""
    if kind == "CreateDelegationToken" and said.token_id:
        names.number("token", said.token_id)
        names.number("hmac", bytes(said.hmac).hex())
    if kind == "DescribeLogDirs":
        paths = sorted(one.log_dir for one in said.results)
        for path in paths if len(paths) > 1 else ():
            names.number("dir", path)


def _minutes(value: int, since: float) -> str:
    minutes = round((value - since) / 60_000 / STEP_MINUTES) * STEP_MINUTES
    return f"<time{minutes:+} min>" if minutes else "<time>"


def _created(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    _token(names, answer, OF_TOKENS["CreateDelegationToken"])


def _described(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    tokens = [one for one in answer.get("tokens", ()) if one.get("token_id", "").startswith("<token ")]
    for one in tokens:
        _token(names, one, OF_TOKENS["DescribeDelegationToken"])
    answer["tokens"] = tokens


def _token(names: Names, row: dict[str, Json], ending: str) -> None:
    """Its times, from its issue on; exact, as they were reckoned with it."""
    issued = row.get(f"issue_{ending}", -1)
    if is_near(issued):
        row[f"issue_{ending}"] = "<time>"
        for name in (f"expiry_{ending}", f"max_{ending}"):
            if row.get(name, -1) > 0:
                row[name] = _minutes(row[name], issued)
    if row.get("hmac"):
        row["hmac"] = names.stable(row["hmac"])


def _moved(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    """When a token expires now."""
    if answer.get("expiry_timestamp_ms", 0) > 0:
        answer["expiry_timestamp_ms"] = _minutes(answer["expiry_timestamp_ms"], time.time() * 1000)


def _quorum(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    _worded(names, request, answer)
    for topic in answer.get("topics", ()):
        for partition in topic.get("partitions", ()):
            _named(partition, leader_epoch="<epoch>", high_watermark="<offset>")
            for replica in (*partition.get("current_voters", ()), *partition.get("observers", ())):
                _named(replica, log_end_offset="<offset>", replica_directory_id="<directory>")


def _features(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    if len(answer.get("api_keys", ())) > 1:
        answer["api_keys"] = ["<versions>"]
    _named(answer, finalized_features_epoch="<epoch>")


def _worded(names: Names, request: Mapping[str, Json], answer: dict[str, Json]) -> None:
    if answer.get("error_message") and answer.get("error_code") == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        answer["error_message"] = "<text>"
    elif answer.get("error_message"):
        text = CONTROLLER.sub("<node>", answer["error_message"])
        answer["error_message"] = CLUSTER.sub("<cluster>", text)


def _named(row: dict[str, Json], **names: str) -> None:
    """Fields that are there, under other names."""
    row |= {field: name for field, name in names.items() if field in row}


CHANGES: Mapping[str, Callable[[Names, Mapping[str, Json], dict[str, Json]], None]] = {
    "AddRaftVoter": _worded,
    "ApiVersions": _features,
    "CreateDelegationToken": _created,
    "DescribeDelegationToken": _described,
    "DescribeQuorum": _quorum,
    "ExpireDelegationToken": _moved,
    "RemoveRaftVoter": _worded,
    "RenewDelegationToken": _moved,
    "UnregisterBroker": _worded,
    "UnregisterController": _worded,
    "UpdateFeatures": _worded,
}
