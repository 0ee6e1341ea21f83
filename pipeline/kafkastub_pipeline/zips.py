"""Zips on a worker's path: to look through them again for every task takes Python a tenth of a second.

Before each task PySpark has Python forget what it knows of modules, should a file have been sent meanwhile. Python 3.10
and 3.11 look through all zips on the path then, at once: through PySpark's own as often as packages of it are loaded,
and through Spark's largest jar, which Spark has put there. Mended in Python 3.12 (python/cpython#103200) and in Spark
4.2 (SPARK-54744).
"""

from __future__ import annotations

import sys
import zipimport
from pathlib import Path
from typing import Any

_known: dict[int, tuple[int, int]] = {}
"""Of an importer, by its id: what its zip was like when it was looked through. Importers live as long as Python."""


def forget_what_has_changed() -> None:
    """In a worker of PySpark, have Python look through zips again only if they have changed."""
    if "pyspark.worker" in sys.modules and sys.version_info < (3, 12):
        patch()


def patch() -> None:
    """The same, wherever this is."""
    importer: Any = zipimport.zipimporter
    reload = importer.invalidate_caches

    def invalidate_caches(self: Any) -> None:
        try:
            found = Path(self.archive).stat()
        except OSError:  # it is gone: what is known of it has to be forgotten
            reload(self)
            return
        like = found.st_mtime_ns, found.st_size
        if _known.get(id(self)) != like:
            _known[id(self)] = like
            reload(self)

    importer.invalidate_caches = invalidate_caches
