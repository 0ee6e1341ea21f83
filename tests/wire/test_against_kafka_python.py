"""kafka-python's encoders and decoders, an implementation of its own, for every API and version that it has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from kafkawire.codec.layout import FieldLayout
from kafkawire.messages.api_versions_response import ApiVersionsResponse
from kafkawire.schema import Struct
from tests.wire.arbitrary import arbitrary, at_version, encodable, few
from tests.wire.catalogue import by_name, layout, versions
from tests.wire.with_kafka_python import from_theirs, kafka_python_classes, to_theirs


def shared(name: str) -> range:
    """The versions that both know."""
    ours = versions(by_name()[name])
    return range(ours.start, min(ours.stop, kafka_python_classes()[name].max_version + 1))


def test_kafka_python_speaks_what_clients_speak():
    assert len(kafka_python_classes()) > 70
    assert sum(len(shared(name)) for name in kafka_python_classes()) > 350


def read_at_its_version(struct: type[Struct], field: FieldLayout) -> st.SearchStrategy[Any] | None:
    """An ApiVersions answer with an error: kafka-python reads it as version 0, whatever it asked for."""
    return st.just(0) if (struct, field.name) == (ApiVersionsResponse, "error_code") else None


@pytest.mark.parametrize("name", sorted(kafka_python_classes()))
@few
@given(data=st.data())
def test_what_one_writes_the_other_reads(name: str, data: st.DataObject):
    theirs = kafka_python_classes()[name]
    message = data.draw(arbitrary(by_name()[name], read_at_its_version))
    for version in shared(name):
        of = layout(type(message), version)
        valid = encodable(message, of)
        expected = at_version(valid, of)
        their_bytes = to_theirs(valid, of, theirs, version).encode(version=version)
        assert codec.decode_from(type(message), version, bytes(their_bytes), 0) == (expected, len(their_bytes))
        assert from_theirs(theirs.decode(codec.encode(valid, version), version=version), of, version) == expected
