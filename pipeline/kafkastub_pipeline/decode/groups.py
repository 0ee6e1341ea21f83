"""Generations of classic groups as columns, versions 0-3, which is all that is written.

    version  value
    0        protocol type string, generation int32, protocol and leader nullable string, members [
                 member id, client id, client host string, session timeout int32, subscription, assignment bytes]
    1        … and a member's rebalance timeout int32, before the session's
    2        … and the timestamp of the state int64, before the members
    3        … and a member's group instance id, a nullable string, behind the member id

All rows of a version are read at once, and then all first members, all second members, and so on: a step a member of
the largest group, not a step a record. Version 4, which is flexible, and whatever is damaged are left to `decode.rows`.
Kafka: GroupMetadataKey.json, GroupMetadataValue.json.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafkastub_pipeline.decode.buffers import Mask, Positions, Rows, mask, scattered
from kafkastub_pipeline.decode.columns import GROUP, MEMBER
from kafkawire.subscription import subscribed_topics

VERSIONS: Final = (0, 1, 2, 3)
_MOST_MEMBERS: Final = 1000
"""Of a group that is read here."""
_TOPICS: Final = pa.list_(pa.string())


def group_columns(keys: pa.BinaryArray, values: pa.BinaryArray, chosen: Positions) -> tuple[dict[str, pa.Array], Mask]:
    """`group_id`, `schema_version` and `group` of a batch, and the rows that have to be decoded one by one.

    Args:
        keys, values: columns of the whole batch.
        chosen: the rows whose keys are those of a classic group's generation.
    """
    count = len(keys)
    odd = np.zeros(count, np.bool_)
    names = Rows(keys, chosen)
    names.at += 2
    group_id = names.text_of(names.cut(names.int16().astype(np.int64)))
    present = mask(values)[chosen]
    rows = Rows(values, chosen)
    version = rows.int16()
    odd[chosen] = names.odd | (present & (rows.odd | ~np.isin(version, VERSIONS)))
    parts, where = [pa.nulls(0, GROUP)], [np.zeros(0, np.int64)]
    for one in VERSIONS:
        at = np.flatnonzero(present & ~rows.odd & (version == one))
        if len(at):
            some = rows.only(at)
            parts.append(_groups(some, one))
            where.append(at)
            odd[chosen[at]] |= some.odd
    placed = np.full(len(chosen), -1, np.int64)
    order = np.concatenate(where)
    placed[order] = np.arange(len(order))
    placed[odd[chosen]] = -1
    found = {
        "group_id": group_id,
        "schema_version": pa.array(version, mask=~present | odd[chosen]),
        "group": pa.concat_arrays(parts).take(pa.array(placed, mask=placed < 0)),
    }
    return {name: scattered(column, chosen, count) for name, column in found.items()}, odd


def _groups(rows: Rows, version: int) -> pa.StructArray:
    """The values of one version behind the version's number; what is odd is marked so in `rows`."""
    protocol_type = _string(rows)
    generation = rows.int32()
    protocol = _nullable(rows)
    leader = _nullable(rows)
    since = rows.int64() if version >= 2 else np.full(len(rows.at), -1, np.int64)
    members = _members(rows, version, pc.and_(pc.equal(protocol_type, "consumer"), pc.is_valid(protocol)))
    columns = [protocol_type, pa.array(generation), protocol, leader, pa.array(since), members]
    return pa.StructArray.from_arrays(columns, fields=list(GROUP))


def _members(rows: Rows, version: int, subscribes: pa.BooleanArray) -> pa.ListArray:
    """The lists of members, read by their places in them."""
    count = rows.int32().astype(np.int64)
    rows.odd |= (count < 0) | (count > _MOST_MEMBERS)
    count[rows.odd] = 0
    levels: list[list[pa.Array]] = []
    owners: list[npt.NDArray[np.int64]] = []
    for number in range(int(count.max(initial=0))):
        at = np.flatnonzero((count > number) & ~rows.odd)
        some = rows.only(at)
        levels.append(_member(some, version, subscribes.take(pa.array(at))))
        owners.append(at)
        rows.at[at] = some.at
        rows.odd[at] |= some.odd
    count[rows.odd] = 0
    edges = pa.array(np.concatenate([[0], np.cumsum(count)]), pa.int32())
    if not levels:
        return pa.ListArray.from_arrays(edges, pa.nulls(0, MEMBER))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    order = pa.array(order[~rows.odd[owner[order]]])
    columns = [pa.concat_arrays(list(column)).take(order) for column in zip(*levels, strict=True)]
    return pa.ListArray.from_arrays(edges, pa.StructArray.from_arrays(columns, fields=list(MEMBER)))


def _member(rows: Rows, version: int, subscribes: pa.BooleanArray) -> list[pa.Array]:
    """One member of each row, as the fields of `MEMBER`."""
    member_id = _string(rows)
    instance_id = _nullable(rows) if version >= 3 else pa.nulls(len(rows.at), pa.string())
    client_id = _string(rows)
    client_host = _string(rows)
    rebalance = rows.int32() if version >= 1 else np.full(len(rows.at), -1, np.int32)
    session = rows.int32()
    subscription = rows.bytes_of(rows.cut(rows.int32().astype(np.int64)))
    rows.cut(rows.int32().astype(np.int64))  # the assignment
    topics = _topics(subscription, subscribes)
    return [member_id, instance_id, client_id, client_host, pa.array(rebalance), pa.array(session), topics]


def _topics(subscriptions: pa.BinaryArray, subscribes: pa.BooleanArray) -> pa.ListArray:
    """What members subscribe to. A batch has few different subscriptions, so that each is parsed once."""
    different = pc.if_else(subscribes, subscriptions, pa.scalar(None, pa.binary())).dictionary_encode()
    parsed: list[Any] = [subscribed_topics(one) for one in different.dictionary.to_pylist()]
    known = pa.array([None if topics is None else sorted(topics) for topics in parsed], _TOPICS)
    return known.take(different.indices)


def _string(rows: Rows) -> pa.StringArray:
    return rows.text_of(rows.cut(rows.int16().astype(np.int64)))


def _nullable(rows: Rows) -> pa.StringArray:
    size = rows.int16().astype(np.int64)
    null = size == -1
    text = rows.text_of(rows.cut(np.where(null, 0, size)))
    return pc.if_else(pa.array(~null), text, pa.scalar(None, pa.string()))
