"""What the extra `pipeline` brings: whether it is there is told before anything of it is used."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from kafkastub_pipeline.errors import PipelineError

TABLES: Final = ("numpy", "pandas", "pyarrow", "pyspark")
"""Modules that reading and deciding takes."""
CLUSTER: Final = ("confluent_kafka",)
"""Those that asking a cluster takes."""
PAGE: Final = ("jinja2", "matplotlib", "pyspark")
"""Those that the page takes."""


def check(*modules: str) -> None:
    """Raises PipelineError where one of them is not installed."""
    missing = sorted({name for name in modules if find_spec(name) is None})
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise PipelineError(
            f"this needs the extra pipeline ({', '.join(missing)} {are} missing): pip install 'kafkastub[pipeline]'"
        )
