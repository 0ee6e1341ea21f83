"""What is said of failures that come from Java."""

from __future__ import annotations

from kafkastub_pipeline.errors import sentence


class Java(Exception):
    """A Java exception as py4j shows it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.java_exception = self
        self._name, self._message = name, message

    def getClass(self) -> Java:  # noqa: N802
        return self

    def getName(self) -> str:  # noqa: N802
        return self._name

    def getMessage(self) -> str:  # noqa: N802
        return self._message

    def getCause(self) -> None:  # noqa: N802
        return None


def test_where_memory_ran_out_it_is_said_how_to_give_more() -> None:
    for error in (
        Java("java.lang.OutOfMemoryError", "Java heap space"),
        Java("org.apache.spark.SparkException", "java.lang.OutOfMemoryError: Java heap space"),
    ):
        assert "Java heap space" in sentence(error)
        assert "SPARK_DRIVER_MEMORY=4g" in sentence(error)
    assert "MEMORY" not in sentence(Java("java.io.IOException", "the disk is full, and nothing helps"))
