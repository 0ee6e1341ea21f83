"""Which partition a group is in; the expected values come from a JVM."""

from __future__ import annotations

import pytest

from kafkastub.coordinator import partition_for


@pytest.mark.parametrize(
    ("group_id", "partition"),
    [("", 0), ("my-group", 12), ("console-consumer-12345", 6), ("größe", 7), ("polygenelubricants", 0)],
)
def test_partition_of_a_group_is_kafkas(group_id: str, partition: int):
    assert partition_for(group_id, 50) == partition
