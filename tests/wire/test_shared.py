"""Arrays in which the same struct stands many times."""

from __future__ import annotations

import pytest

from kafkawire.codec import decode, encode
from kafkawire.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kafkawire.rows import Shared


@pytest.mark.parametrize("version", range(1, 5))
def test_shared_structs_have_the_bytes_of_others(version: int):
    encoded: dict[int, bytes] = {}
    entries = [
        DescribeConfigsResourceResult(f"n{n}", str(n), synonyms=[DescribeConfigsSynonym("s", "1", 5)]) for n in range(3)
    ]
    results = [
        DescribeConfigsResult(0, "", 4, "1", configs=entries),
        DescribeConfigsResult(0, "", 4, "2", configs=entries[1:]),
    ]
    order = [results[0], results[1], results[0], results[0]]
    plain = encode(DescribeConfigsResponse(results=order), version)
    for result in results:
        result.configs = Shared(result.configs, encoded)
    shared = encode(DescribeConfigsResponse(results=Shared(order, encoded)), version)
    assert shared == plain
    assert decode(DescribeConfigsResponse, version, shared).results[3].resource_name == "1"
    assert encode(DescribeConfigsResponse(results=Shared([], {})), version) == encode(
        DescribeConfigsResponse(), version
    )
