"""`--kafka-stub-shrink`: run a test that fails under chaos again, with fewer and simpler acts. Imported only then.

rerun    the hook that runs the test again, and the section of the report
source   the result as a test file
"""

from kafkastub.pytest_plugin.shrink.rerun import Shrinking

__all__ = ["Shrinking"]
