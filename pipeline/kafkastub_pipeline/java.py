"""The Java side of a Spark session: file systems, the start of Java, Ctrl-C.

PySpark has no public name for any of this. All private names of PySpark that the pipeline uses are in this module, and
a release that lacks one, or a session without Java in this process, is reported in one sentence.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from kafkastub_pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

log = logging.getLogger("kafkastub_pipeline")

LAST_WORDS_SECONDS: Final = 5.0
"""How long the output of a Java process that has ended is waited for, in seconds."""


def is_remote(spark: SparkSession) -> bool:
    """Return whether this is a session of Spark Connect, whose Java runs in another process."""
    return "connect" in type(spark).__module__.split(".")


def check_java(spark: SparkSession) -> None:
    """Raise PipelineError for a session that has no Java in this process."""
    if is_remote(spark):
        raise PipelineError(
            "the session is one of Spark Connect, which has no Java in this process: the pipeline's tables need it for"
            " files and for workers. Run this on the server's side or with --master, or read the log by"
            ' spark.read.format("kafka_offsets"), which works with Spark Connect (docs/spark.md)'
        )


def jvm(spark: SparkSession) -> Any:
    """Return Java's packages, as attributes. Raise PipelineError where there are none."""
    check_java(spark)
    return _private(spark.sparkContext, "_jvm")


def hadoop_configuration(spark: SparkSession) -> Any:
    """Return the Hadoop configuration of the session. Raise PipelineError where there is none."""
    check_java(spark)
    return _private(spark.sparkContext, "_jsc").hadoopConfiguration()


def executors(spark: SparkSession) -> int | None:
    """Return how many executors a cluster has given to the session; None if this Spark does not tell."""
    try:
        return len(_private(spark.sparkContext, "_jsc").sc().statusTracker().getExecutorInfos()) - 1
    except Exception as error:
        log.info("the number of executors is not known: %s", error)
        return None


def _private(holder: Any, name: str) -> Any:
    found = getattr(holder, name, None)
    if found is None:
        from pyspark import __version__

        raise PipelineError(
            f"PySpark {__version__} has no {type(holder).__name__}.{name}, by which the pipeline reaches Java: install"
            " a release that is known to work (docs/pipeline.md)"
        )
    return found


def start_quietly(conf: SparkConf, said: deque[str]) -> None:
    """Start Java with its output led to `said`: the settings of its log come too late for its first lines.

    A PySpark that starts Java in another way than those that are known starts it itself, with its output as it is.
    """
    from pyspark import SparkContext

    if getattr(SparkContext, "_gateway", None) is not None:
        return
    try:
        from pyspark.java_gateway import launch_gateway

        adopt = SparkContext._ensure_initialized
    except (ImportError, AttributeError) as error:
        log.info("Java starts with its own output: %s", error)
        return
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)  # it reports Ctrl-C there
    ours, javas = os.pipe()

    def listen() -> None:
        with os.fdopen(ours, encoding="utf-8", errors="replace") as lines:
            said.extend(lines)

    listener = threading.Thread(target=listen, name="what Java says", daemon=True)
    listener.start()
    launch: Any = launch_gateway
    try:
        gateway = launch(conf, {"stdout": javas, "stderr": subprocess.STDOUT})
    except Exception:
        os.close(javas)
        listener.join(LAST_WORDS_SECONDS)
        raise
    os.close(javas)
    adopt(gateway=gateway, conf=conf)


def let_interrupt(spark: SparkSession) -> None:
    """Make Ctrl-C a KeyboardInterrupt and nothing else.

    PySpark's own handler asks Java to cancel its jobs over the connection on which an answer is expected, and both get
    lost. This handler leaves that connection alone, and what follows takes a new one.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    gateway = getattr(spark.sparkContext, "_gateway", None)
    client: Any = getattr(gateway, "_gateway_client", None)

    def interrupted(number: int, frame: object) -> None:
        if hasattr(client, "thread_connection"):
            client.thread_connection.connection = None
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
