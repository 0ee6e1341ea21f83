"""One Spark session for all of them: a start takes many seconds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WARNINGS = ("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning", "ignore::UserWarning")
"""What pyspark and its helpers have to say of newer Pythons and pandas is not ours to mend."""

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""A hundred small queries: to compile each of them takes longer than to run it. Processes of their own do compile."""

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]
"""Without the extra `pipeline` these files cannot even be read; `make test-pipeline` installs it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/pipeline/" in item.path.as_posix():
            if item.get_closest_marker("soak") is None:
                on_cluster = item.path.name.startswith("test_spark_cluster")
                item.add_marker(pytest.mark.pipeline_cluster if on_cluster else pytest.mark.pipeline)
            for warning in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session", autouse=True)
def in_workers() -> Iterator[None]:
    """The tests' logs are small, and go through Spark's workers all the same; test_small.py has the other way."""
    from kafkastub_pipeline import here

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(here, "RECORDS", 0)
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="Spark is not installed: make test-pipeline installs it")
    from kafkastub_pipeline.session import spark_session
    from tests.pipeline.process import SETTINGS

    session = spark_session("local[2]", conf=[*SETTINGS.items(), *INTERPRETED.items(), ("spark.log.level", "ERROR")])
    yield session
    session.stop()
