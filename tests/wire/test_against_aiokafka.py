"""aiokafka's own encoders and decoders, for every API and version that it has and Kafka 4 still speaks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from tests.wire.arbitrary import arbitrary, at_version, encodable, few
from tests.wire.catalogue import by_name, layout
from tests.wire.with_aiokafka import aiokafka_classes, to_theirs

NOT_COMPARED = {
    ("DescribeAclsRequest", 2): "aiokafka takes it for an inflexible version",
    ("DescribeAclsResponse", 2): "aiokafka takes it for an inflexible version",
    ("ListOffsetsRequest", 4): "aiokafka has current_leader_epoch as 64 bits",
    ("ListOffsetsRequest", 5): "aiokafka has current_leader_epoch as 64 bits",
    ("CreatePartitionsRequest", 0): "aiokafka has one structure more (the same bytes)",
    ("CreatePartitionsRequest", 1): "aiokafka has one structure more (the same bytes)",
}


def test_aiokafka_speaks_what_clients_speak():
    assert len(aiokafka_classes()) > 160


@pytest.mark.parametrize(("name", "version"), sorted(aiokafka_classes().keys() - NOT_COMPARED))
@few
@given(data=st.data())
def test_what_one_writes_the_other_reads(name: str, version: int, data: st.DataObject):
    cls, theirs = by_name()[name], aiokafka_classes()[name, version]
    of = layout(cls, version)
    message = encodable(data.draw(arbitrary(cls, lambda struct, field: None)), of)
    expected = at_version(message, of)
    for field in of.tagged:  # aiokafka has none
        setattr(expected, field.name, getattr(cls(), field.name))
    values = to_theirs(expected, of, theirs.SCHEMA)
    their_bytes = theirs(*values).encode()
    assert codec.decode_from(cls, version, their_bytes, 0) == (expected, len(their_bytes))
    read = theirs.decode(codec.encode(expected, version))
    assert read == theirs(*values)
