"""One sentence for everything that can be wrong with what the user gave."""

from __future__ import annotations


class PipelineError(Exception):
    """Bad input or an unusable source; the text is one sentence that says what to do."""


def sentence(error: BaseException) -> str:
    """What Spark, Java or a client has to say, as one line without its stack."""
    text = str(error).strip() or type(error).__name__
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith(("at ", "\tat"))
    ]
    if lines and "stack trace below" in lines[0]:  # a Python worker's: its own last line says what it was
        errors = [line for line in lines if line.partition(":")[0].endswith(("Error", "Exception"))]
        return errors[0] if errors else lines[-1]
    return lines[0] if lines else text
