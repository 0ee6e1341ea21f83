"""`--kafka-stub-shrink`: a test that fails under chaos is run again with fewer and simpler acts. Imported only then.

again    the hook that runs it again, and what its report says
source   the result as a test file
"""

from kafkastub.pytest_plugin.shrink.again import Shrinking

__all__ = ["Shrinking"]
