"""What the extra `pipeline` brings: whether it is there, and is one we know, is told before anything of it is used."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kafkastub_pipeline.errors import PipelineError

TABLES: Final = ("numpy", "pandas", "pyarrow", "pyspark")
"""Modules that reading and deciding takes."""
CLUSTER: Final = ("confluent_kafka",)
"""Those that asking a cluster takes."""
PAGE: Final = ("jinja2", "matplotlib", "pyspark")
"""Those that the page takes."""

SPARK: Final = ("4.0",)
"""Releases of Spark that this is made for: of others pyspark's own functions, and the records' source, differ."""
_VERSION: Final = re.compile(r"""^__version__\s*(?::\s*str\s*)?=\s*["']([^"']+)["']""", re.MULTILINE)


def check(*modules: str) -> None:
    """Raises PipelineError where one of them is not installed."""
    missing = sorted({name for name in modules if find_spec(name) is None})
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise PipelineError(
            f"this needs the extra pipeline ({', '.join(missing)} {are} missing): pip install 'kafkastub[pipeline]'"
        )
    if "pyspark" in modules:
        version = installed_spark()
        if version is not None:
            check_spark(version, "pyspark {} is installed")


def check_spark(version: str, found: str) -> None:
    """Raises PipelineError for a release that we do not know; `found` says where `{}`, the version, is."""
    if ".".join(version.split(".")[:2]) in SPARK:
        return
    raise PipelineError(
        f"{found.format(version)}, and this version of kafkastub-pipeline works with Spark {', '.join(SPARK)} only:"
        f" pip install 'pyspark=={SPARK[-1]}.*' (the extra pipeline brings it), on a cluster of that release"
    )


def installed_spark() -> str | None:
    """The version of pyspark, which is not loaded for that; None where it does not say."""
    spec = find_spec("pyspark")
    for folder in (spec and spec.submodule_search_locations) or ():
        try:
            said = _VERSION.search((Path(folder) / "version.py").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if said is not None:
            return said[1]
    return None
