"""Long answers that the broker remembers, sent again: how long the loop works for one where requests are counted."""

from __future__ import annotations

from typing import Final

from kafkawire.api import ApiKey
from kafkawire.codec import encode
from kafkawire.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from tests.hostile.test_hostile import linux
from tests.hostile.turns import Measured
from tests.rawclient import RawClient

PARTITIONS: Final = 9_000
VERSION: Final = 12
LONGEST_MS: Final = 10.0
TIMES: Final = 5


@linux
def test_two_long_answers_take_turns() -> None:
    """Each was decoded anew for the errors in it, which took 0.1 s for 18,000 partitions."""
    requests = [
        MetadataRequest(None),
        MetadataRequest([MetadataRequestTopic(name="wide"), MetadataRequestTopic(name="other")]),
        MetadataRequest([MetadataRequestTopic(name="wide")]),
    ]
    bodies = [encode(request, VERSION) for request in requests]
    with Measured("--topic", f"wide:{PARTITIONS}", f"other:{PARTITIONS}") as measured:
        with RawClient(measured.servers) as client:
            for body in bodies:  # the careful way, which is remembered
                client.exchange(ApiKey.METADATA, VERSION, body)
            turns: list[float] = []
            for body in TIMES * bodies:
                measured.longest_ms()
                client.exchange(ApiKey.METADATA, VERSION, body)
                client.exchange(ApiKey.API_VERSIONS, 0, b"")
                turns.append(measured.longest_ms())
        print(turns)
        assert sorted(turns)[len(turns) // 2] < LONGEST_MS
