"""Every message at every version, random values: kio's own writer and ours, kio's reader and all of ours.

Left out is what kio cannot hold: error codes that it does not know, durations beyond 4,400 years, timestamps
before 1970 or after 2039 (it goes by way of floats).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkawire import codec
from kafkawire.schema import Message
from tests.wire.arbitrary import arbitrary, at_version, encodable, few
from tests.wire.catalogue import READERS, MessageClass, layout, messages, versions
from tests.wire.with_kio import KIO_PLACES, held_by_kio, kio_class, kio_reads, kio_writes, to_kio

OURS_ALONE = [cls for cls in messages() if cls.__name__ not in KIO_PLACES]
WITH_KIO = [cls for cls in messages() if cls.__name__ in KIO_PLACES]


def named(cls: MessageClass) -> str:
    return cls.__name__


OF_KAFKA_4_4 = {
    "ApiVersions": 5,
    "DeleteGroups": 3,
    "StreamsGroupDescribe": 1,
    "StreamsGroupHeartbeat": 1,
    "TxnOffsetCommit": 6,
}
"""The newest versions, which kio does not know yet."""
NEW_IN_KAFKA_4_4 = {"AbortedTxn", "StreamsGroupTopologyDescriptionUpdate", "UnregisterController"}


def api(name: str) -> str:
    return name.removesuffix("Request").removesuffix("Response")


def test_kio_and_we_know_the_same_versions_but_for_the_newest():
    assert {name: sorted(found) for name, found in KIO_PLACES.items()} == {
        cls.__name__: [version for version in versions(cls) if version != OF_KAFKA_4_4.get(api(cls.__name__))]
        for cls in WITH_KIO
    }


def test_kio_lacks_the_coordinators_records_and_the_newest_apis_alone():
    lacking = [cls for cls in OURS_ALONE if api(cls.__name__) not in NEW_IN_KAFKA_4_4]
    assert {cls.__module__.rpartition("_")[2] for cls in lacking} == {"key", "value"}


@pytest.mark.parametrize("cls", WITH_KIO, ids=named)
@few
@given(data=st.data())
def test_kio_writes_and_reads_the_same(cls: MessageClass, data: st.DataObject):
    message = data.draw(arbitrary(cls, held_by_kio))
    for version in versions(cls):
        of = layout(cls, version)
        valid = encodable(message, of)
        written = there_and_back(valid, version)
        if version not in KIO_PLACES[cls.__name__]:
            continue
        entity = to_kio(valid, of, kio_class(cls.__name__, version))
        assert kio_writes(entity) == written
        assert kio_reads(type(entity), written) == (entity, len(written))


@pytest.mark.parametrize("cls", OURS_ALONE, ids=named)
@few
@given(data=st.data())
def test_our_readers_agree(cls: MessageClass, data: st.DataObject):
    message = data.draw(arbitrary(cls, lambda struct, field: None))
    for version in versions(cls):
        there_and_back(encodable(message, layout(cls, version)), version)


def there_and_back(message: Message, version: int) -> bytes:
    """The bytes of `message`, read by every reader with other bytes around them."""
    cls = type(message)
    expected = at_version(message, layout(cls, version))
    written = codec.encode(message, version)
    assert b"".join(codec.paced_encoder(cls, version)(message, lambda: None)) == written
    for title, reader in READERS.items():
        read, end = reader(cls, version)(b"\xff" + written + b"\xff\xff", 1, len(written) + 1)
        assert end == len(written) + 1, title
        assert read == expected, title
    return written
