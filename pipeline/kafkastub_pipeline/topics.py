"""Names on a cluster: the internal topics that are read, and the groups as which clients ask."""

from __future__ import annotations

from typing import Final

TOPIC: Final = "__consumer_offsets"
SHARES: Final = "__share_group_state"
TRANSACTIONS: Final = "__transaction_state"
GROUP: Final = "kafkastub-pipeline"
"""What the names of its clients' groups begin with. They have no members and commit nothing."""
