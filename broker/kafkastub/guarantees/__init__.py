"""What an application did to its records, found from the requests and answers that passed. Guide: docs/guarantees.md.

`reading` makes events of the journal's entries, `following` does that while they come. `checker` keeps what they say by
partition (`state`, `ownership`). Each family of guarantees has a module: `consumers`, `producers`, `transactions`,
`shares`, and `relations`, which compares two topics. `catalog` has the guarantees themselves. Pure: no loop, no
sockets, no clock.
"""

from __future__ import annotations

from kafkastub.guarantees.catalog import CATALOG, Guarantee
from kafkastub.guarantees.checker import Checker
from kafkastub.guarantees.findings import Finding
from kafkastub.guarantees.verdict import GuaranteeBroken, Verdict

__all__ = ["CATALOG", "Checker", "Finding", "Guarantee", "GuaranteeBroken", "Verdict"]
