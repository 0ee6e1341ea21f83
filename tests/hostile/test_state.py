"""Changes of a broker that has very much to write down: others do not wait while that is put together."""

from __future__ import annotations

from pathlib import Path

from kafkawire.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.hostile.prober import LONGEST_MS, probing
from tests.persistence.speaker import Speaker
from tests.process.serving import Serving


def test_small_changes_of_a_large_state(tmp_path: Path):
    """A group's configuration, which has nothing to do with them, beside thirty thousand partitions."""
    topics = [option for number in range(3) for option in ("--topic", f"wide-{number}:9900")]
    with Serving("--data-dir", str(tmp_path), *topics) as serving, Speaker(serving.servers) as speaker:

        def longest() -> float:
            with probing(serving.servers) as prober:
                for number in range(3):
                    setting = AlterableConfig("consumer.session.timeout.ms", 0, str(45_000 + number))
                    resource = AlterConfigsResource(32, "group", [setting])
                    answer = speaker.ask(IncrementalAlterConfigsRequest([resource]), 1)
                    assert answer.responses[0].error_code == 0
            return prober.longest_ms

        assert min(longest() for _ in range(3)) <= LONGEST_MS


def test_transactional_ids_by_the_thousand(tmp_path: Path):
    with Serving("--data-dir", str(tmp_path)) as serving, Speaker(serving.servers) as speaker:

        def longest() -> float:
            with probing(serving.servers) as prober:
                for number in range(1500):
                    speaker.producer_id(f"payments-{number}")
            return prober.longest_ms

        assert min(longest() for _ in range(3)) <= LONGEST_MS
