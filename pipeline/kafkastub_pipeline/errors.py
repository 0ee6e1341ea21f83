"""One sentence for everything that can be wrong with what the user gave."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final


class PipelineError(Exception):
    """Bad input or an unusable source; the text is one sentence that says what to do."""


class Unreachable(PipelineError):
    """No broker answers now. It may later: who repeats its work can wait."""


_MOST_CAUSES: Final = 20
_WRAPPERS: Final = re.compile(
    r"(?:[\w.$]+(?:Exception|Error): )?(?:Job aborted|Writing job aborted|Exception thrown in awaitResult"
    r"|\[STREAM_FAILED\]|\[TASK_WRITE_FAILED\]|An error occurred while calling|Query \[|Boxed (?:Error|Exception))"
)
"""What Spark says of every failure: that there is one."""
_FILE: Final = re.compile(r"\[FAILED_READ_FILE[^\]]*\] .*?while reading file (\S+?)\.?(?: SQLSTATE|$|\s)")
_STAGE: Final = re.compile(r"Lost task .*?\(TID \d+\)[^:]*: ([\w.$]+): (.*)")


_NO_MEMORY: Final = "java.lang.OutOfMemoryError"
_MORE_MEMORY: Final = (
    "set SPARK_DRIVER_MEMORY=4g where it runs on this machine alone, spark.executor.memory where workers do"
)


def sentence(error: BaseException) -> str:
    """What Spark, Java or a client has to say, as one line: the innermost cause that tells something, no stack."""
    from_java = list(_java_causes(error))
    if not from_java:
        return _line(str(error).strip()) if str(error).strip() else _where(error)
    told = [(name, _line(text)) for name, text in from_java if text and not _WRAPPERS.match(text)]
    if not told:
        wrapped = next((found for _, text in from_java if (found := _STAGE.search(text))), None)
        return f"{_line(wrapped[2])} ({_short(wrapped[1])})" if wrapped else _line(str(error))
    name, text = told[-1]
    if not text.startswith("[") and len(text.split()) < 4:  # `/a: Is a directory` says little, `null` nothing
        text = f"{text} ({_short(name)})"
    if name == _NO_MEMORY or _NO_MEMORY in text:
        text = f"{text}: Spark needs more memory for what it reads here: {_MORE_MEMORY}"
    for _, outer in from_java:
        file = _FILE.search(outer)
        if file is not None and file[1] not in text:
            text = f"{file[1]}: {text}"
    return text


def _where(error: BaseException) -> str:
    """What an error without a word is, and where it came from: `AssertionError in pyspark/sql/types.py, line 250`."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None:
        return type(error).__name__
    parts = Path(at.tb_frame.f_code.co_filename).parts
    return f"{type(error).__name__} in {'/'.join(parts[-_MOST_PARTS:])}, line {at.tb_lineno}"


_MOST_PARTS: Final = 4


def _java_causes(error: BaseException) -> Iterator[tuple[str, str]]:
    """Class and message of a Java exception and its causes, outermost first; of any other error nothing."""
    java: Any = getattr(error, "java_exception", None)
    if java is None:
        java = getattr(error, "_origin", None)
    try:
        for _ in range(_MOST_CAUSES):
            if java is None:
                return
            yield str(java.getClass().getName()), str(java.getMessage() or "")
            java = java.getCause()
    except Exception:  # Java is gone: what Python has must do
        return


def _line(text: str) -> str:
    """The telling line of many."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("at ")]
    if any("Traceback (most recent call last)" in line for line in lines):  # a Python worker's: its last line says it
        errors = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
        return errors[-1] if errors else lines[-1]
    first = 0
    while first < min(3, len(lines) - 1) and lines[first][-1].isalpha():  # a sentence over several lines
        first += 1
    return " ".join(lines[: first + 1]) if lines else text


def _short(name: str) -> str:
    return name.rpartition(".")[2].rpartition("$")[2]
