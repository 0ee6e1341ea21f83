"""The three parts of the tests: `make test` runs the quick one, which is for every day, and `make test-all` all.

Long is what takes a browser, clients in other languages or many processes. Attacks measure how long others wait, and
what memory it takes, while somebody does their worst: that needs a machine that does nothing else, so `make nightly`
runs them. Both have to be named here: what is not is quick. Whoever calls pytest by hand has all that is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

LONG: Final = (
    # a browser
    "page/",
    # clients of other languages, some of them in full
    "chaos/", "clients/", "programs/", "test_examples.py",
    "faults/test_clients.py", "nodes/test_clients.py", "quotas/test_clients.py",
    "consumer_groups/test_rolling_upgrade.py", "snapshots/test_like_a_fresh_start.py", "cli/test_as_kafkas_tools.py",
    "docs/test_streams_groups_guide.py", "docs/test_tutorial.py", "docs/test_without_sleeps_guide.py",
    "expiry/test_histories.py",
    "control/test_rubbish.py", "control/test_visitors.py", "server/test_no_circles.py", "wire/test_damaged.py",
    # two brokers that are compared, by long histories
    "differential/",
    # many processes: of pytest, of the command line, of brokers that are killed
    "plugin/test_between.py", "plugin/test_chaos.py", "plugin/test_failures.py", "plugin/test_plugin.py",
    "plugin/test_registry.py", "plugin/test_report.py", "plugin/test_shrink.py", "plugin/test_which_broker.py",
    "cli/test_option_by_option.py", "docs/test_pytest_guide.py", "docs/test_readme.py", "faults/test_guide.py",
    "launcher/test_end.py", "launcher/test_stubs.py", "process/test_container_health.py",
    "process/test_control_port.py", "process/test_extras.py",
    "proxy/test_chaos.py", "proxy/test_control_token.py", "proxy/test_hidden_records.py",
    "registry/test_other_clients.py", "security/test_tls_clients.py",
    "plugin/test_check.py", "plugin/test_explained.py", "guarantees/test_programs.py",
    "guarantees/test_workers.py",
    "cli/test_control_commands.py", "process/test_configuration.py", "process/test_serve.py",
    "persistence/test_cleaning.py", "persistence/test_consumer_groups.py", "persistence/test_damaged_state.py",
    "persistence/test_full_disk.py", "persistence/test_kill.py", "persistence/test_share_locks.py",
    "persistence/test_storage_error.py", "persistence/test_streams_crowd.py", "persistence/test_streams_groups.py",
    "persistence/test_transactional_ids.py", "persistence/test_transactions.py", "snapshots/test_files.py",
    "security/test_acl_matrix.py",
)  # fmt: skip
"""Folders and files below `tests`."""

ATTACKS: Final = ("hostile/", "flood/", "control/test_connections.py", "server/test_slices.py")
PARTS: Final = ("quick", "long", "attacks")
OF_NO_PART: Final = ("pipeline/", "pipeline_s3/")
"""Run by make targets of their own."""


FIRST: Final = (
    "conformance/test_catalogue.py", "docs/test_share_groups_guide.py", "records/test_batches.py",
    # of `make oracle`
    "conformance/test_apache_kafka.py", "conformance/test_older_apache_kafka.py", "security/test_acl_matrix.py",
    "nodes/test_changes_as_kafka.py", "differential/test_live_streams.py",
)  # fmt: skip
"""Files with tests that take long: begun last, each would keep one worker while the others have nothing to do."""


NIGHTLY: Final = (
    # of test-long
    "chaos/test_smallest.py", "control/test_rubbish.py", "page/test_looks.py::test_axe_finds_nothing",
    "page/test_stream.py::test_a_change_before_the_first_stream_is_there_is_shown",
    "proxy/test_chaos.py::test_a_bug_is_found",
    "differential/test_streams.py::test_delays_and_timeouts_that_pass_are_the_same_on_both",
    "differential/test_streams.py::test_the_same_is_answered_by_another_stub_and_once_more",
    # of oracle: Apache Kafka still answers what was recorded of it, and answers twice the same
    "clients/test_delegation_tokens.py::test_the_transcript_is_apache_kafkas",
    "clients/test_tools.py::test_the_transcripts_are_apache_kafkas",
    "consumer_groups/test_migrations_as_kafka.py::test_apache_kafka_does_as_recorded",
    "consumer_groups/test_rolling_upgrade.py::test_apache_kafka_rolls_the_same_way",
    "consumer_groups/test_rolling_upgrade_librdkafka.py::test_apache_kafka_rolls_the_same_way",
    "differential/test_live.py::test_kafka_answers", "differential/test_live_admin.py::test_kafka_answers",
    "differential/test_live_consumer.py::test_kafka_answers", "differential/test_live_data.py::test_kafka_answers",
    "differential/test_live_share.py::test_kafka_answers", "differential/test_live_streams.py::test_kafka_answers",
    "differential/test_live_transactions.py::test_kafka_answers",
    "handlers/test_as_version.py::test_the_table_is_that_of_the_jars",
    "handlers/test_topics_as_kafka.py::test_apache_kafka_answers_as_recorded",
    "offsets_topic/test_as_kafka.py::test_the_recorded",
    "offsets_topic/test_consumer_groups.py::test_the_recorded_groups_are_apache_kafkas",
    "offsets_topic/test_share_groups.py::test_the_recorded_groups_are_apache_kafkas",
    "offsets_topic/test_streams_groups.py::test_the_recorded_groups_are_apache_kafkas",
    "quotas/test_requests.py::test_apache_kafka_answers_as_recorded",
    "security/test_acl_matrix.py::test_apache_kafka_answers",
    # of oracle: real minutes
    "conformance/test_apache_kafka.py::test_apache_kafka_with_an_authorizer_and_a_short_retention",
    # of test-pipeline
    "pipeline/test_absurd.py", "pipeline/test_again.py::test_run_again_from_saved_records",
    "pipeline/test_append_day.py", "pipeline/test_live.py",
    "pipeline/test_small.py::test_the_same_tables_from_a_broker_and_from_files", "pipeline/test_stream.py",
)  # fmt: skip
"""Tests that take long and seldom fail: CI leaves them out (`--without-nightly`), `make nightly` runs them."""


def part_of(file: str) -> str | None:
    """The part of a file of tests, "tests/page/test_looks.py": one of PARTS or None."""
    name = file.removeprefix("tests/")
    if name.startswith(OF_NO_PART):
        return None
    return "long" if name.startswith(LONG) else "attacks" if name.startswith(ATTACKS) else "quick"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=PARTS, help="only these tests (tests/parts.py); else all of them")
    parser.addoption(
        "--without-nightly", action="store_true", help="not those that take long and seldom fail (tests/parts.py)"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of the other part are not even read: each worker of pytest-xdist reads all that there are."""
    part = config.getoption("--part")
    if part is None or collection_path == config.rootpath:
        return None
    name = collection_path.relative_to(config.rootpath).as_posix()
    if collection_path.is_dir():  # a folder that is quick may have files that are long
        return part_of(f"{name}/") not in ("quick", part) or None
    return part_of(name) != part or None


@pytest.hookimpl(trylast=True)  # when their order has been made a random one
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those that take long come first, and those that ask the JVM: so one worker has these, which starts it once."""
    if config.getoption("--without-nightly", False):
        left_out = [item for item in items if _name(item).startswith(NIGHTLY)]
        items[:] = [item for item in items if not _name(item).startswith(NIGHTLY)]
        config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: not _comes_first(item))


def _comes_first(item: pytest.Item) -> bool:
    return "jvm" in getattr(item, "fixturenames", ()) or _name(item).startswith(FIRST)


def _name(item: pytest.Item) -> str:
    """`page/test_looks.py::test_it[a]`."""
    return item.nodeid.removeprefix("tests/")
