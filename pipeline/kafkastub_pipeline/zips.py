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

_MARK = "_kafkastub_looked_through"
"""Of an importer: what its zip was like when it was looked through, by time and size."""


def forget_what_has_changed() -> None:
    """In a worker of PySpark, have Python look through zips again only if they have changed."""
    if "pyspark.worker" in sys.modules and sys.version_info < (3, 12):
        patch()


def patch() -> None:
    """The same, wherever this is; nothing where it is done already."""
    importer: Any = zipimport.zipimporter
    reload = importer.invalidate_caches
    if hasattr(reload, _MARK):
        return

    def invalidate_caches(self: Any) -> None:
        try:
            found = Path(self.archive).stat()
        except OSError:  # it is gone, and may be back
            setattr(self, _MARK, None)
            reload(self)
            return
        like = found.st_mtime_ns, found.st_size
        if getattr(self, _MARK, None) != like:
            reload(self)
            # nothing in it: it could not be read, and may be read the next time
            setattr(self, _MARK, like if self._files else None)

    setattr(invalidate_caches, _MARK, True)
    importer.invalidate_caches = invalidate_caches
