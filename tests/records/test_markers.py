"""Markers are batches like others, however they are made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafkawire.records import EndMarker, build_batch, build_marker, marker_record

int16, int32 = st.integers(0, 0x7FFF), st.integers(0, 0x7FFF_FFFF)
int64 = st.integers(0, 0x7FFF_FFFF_FFFF_FFFF)


@given(int64, int16, st.booleans(), int32, int64, int64, st.integers(-1, 0x7FFF_FFFF), st.booleans())
def test_a_marker_is_the_batch_of_its_record(
    producer_id: int,
    epoch: int,
    commit: bool,
    coordinator_epoch: int,
    timestamp: int,
    base_offset: int,
    leader_epoch: int,
    log_append_time: bool,
):
    marker = build_marker(
        producer_id, epoch, commit, coordinator_epoch, timestamp, base_offset=base_offset, leader_epoch=leader_epoch,
        log_append_time=log_append_time,
    )  # fmt: skip
    assert marker == build_batch(
        [marker_record(EndMarker(commit, coordinator_epoch), timestamp)], base_offset=base_offset,
        leader_epoch=leader_epoch, producer_id=producer_id, producer_epoch=epoch,
        attributes=0x38 if log_append_time else 0x30,
    )  # fmt: skip
