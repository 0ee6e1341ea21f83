"""Classic groups: the members agree on the assignment through JoinGroup and SyncGroup.

`states` has the theory, `group` and `member` the data, `rebalance` what happens by and by, `join` and `membership` what
the requests do, `groups` the face.
"""

from __future__ import annotations

from kafkastub.coordinator.classic.groups import ClassicGroups

__all__ = ["ClassicGroups"]
