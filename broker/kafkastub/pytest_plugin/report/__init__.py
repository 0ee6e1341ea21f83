"""`--kafka-stub-report DIR`: a page for each failed test that used a stub. Imported only where it is asked for.

reporter  the hooks: what is gathered when, and where it goes
page      a failed test as one file, and the list of all of them
writing   HTML of tables, as much of it as there is room for
folder    the directory: whether it can be written, names of files, what an earlier run has left
"""

from kafkastub.pytest_plugin.report.reporter import Reporter

__all__ = ["Reporter"]
