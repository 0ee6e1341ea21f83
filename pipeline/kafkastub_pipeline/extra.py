"""What the extra `pipeline` installs, and whether it is a release that we know: checked before any of it is loaded."""

from __future__ import annotations

import logging
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kafkastub_pipeline.errors import PipelineError

log = logging.getLogger("kafkastub_pipeline")

TABLES: Final = ("numpy", "pandas", "pyarrow", "pyspark")
"""Modules that reading and deciding takes."""
CLUSTER: Final = ("confluent_kafka",)
"""Those that asking a cluster takes."""
PAGE: Final = ("jinja2", "matplotlib", "pyspark")
"""Those that the page takes."""

SPARK: Final = ("4.0", "4.1", "4.2", "4.3")
"""Releases of Spark that the pipeline is tested with."""
DEFAULT_SPARK: Final = "4.2"
"""The one that the lock file has."""
_OLDEST: Final = 4
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
    """Refuse a release of Spark that is too old, and warn of one that the pipeline was not tested with.

    Args:
        version: of Spark or PySpark, such as 4.2.0.
        found: where the version was found, with `{}` for the version.

    Raises PipelineError for a release before 4.0: it has neither `DataFrame.toArrow` nor Python data sources.
    """
    major = version.partition(".")[0]
    if major.isdigit() and int(major) < _OLDEST:
        raise PipelineError(
            f"{found.format(version)}, and this version of kafkastub-pipeline needs Spark {SPARK[0]} or newer:"
            f" pip install 'pyspark=={DEFAULT_SPARK}.*' (the extra pipeline brings it), on a cluster of that release"
        )
    if not is_known(version):
        log.warning("%s; %s", found.format(version), untested())


def is_known(version: str) -> bool:
    """Return whether the pipeline is tested with this release of Spark."""
    return ".".join(version.split(".")[:2]) in SPARK


def untested() -> str:
    """What is said of a release that the pipeline is not tested with."""
    return (
        f"kafkastub-pipeline is tested with Spark {', '.join(SPARK[:-1])} and {SPARK[-1]}, and tries this one: if it"
        f" fails, pip install 'pyspark=={DEFAULT_SPARK}.*'"
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
