"""One store and one Spark session for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.conftest import INTERPRETED, WARNINGS
from tests.pipeline_s3.objects import SERVER, Objects, served

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore_glob = [] if find_spec("pyspark") else ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/pipeline_s3/" in item.path.as_posix():
            item.add_marker(pytest.mark.pipeline_s3)
            for warning in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(warning))


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Objects]:
    if not SERVER.exists():
        pytest.skip("there is no S3 server: make test-pipeline-s3 installs it")
    with served(tmp_path_factory.mktemp("store")) as found:
        yield found


@pytest.fixture(scope="session")
def spark(objects: Objects) -> Iterator[SparkSession]:
    from kafkastub_pipeline.session import spark_session
    from tests.pipeline.process import SETTINGS

    conf = {**SETTINGS, **INTERPRETED, **objects.conf, "spark.log.level": "ERROR"}
    session = spark_session("local[2]", packages="", conf=list(conf.items()), kafka=False)
    yield session
    session.stop()
