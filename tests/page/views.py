"""The views of the page, with an address of each in the shop (`scenes.Shop`)."""

from __future__ import annotations

from typing import Final

VIEWS: Final[dict[str, str]] = {
    "overview": "overview",
    "topics": "topics",
    "topic": "topics/orders",
    "records": "topics/orders/records?partition=0",
    "groups": "groups",
    "group": "groups/billing",
    "group-classic": "groups/reports",
    "group-left": "groups/nightly-export",
    "group-share": "groups/couriers",
    "group-streams": "groups/word-count",
    "transactions": "transactions",
    "transaction": "transactions/checkout-2",
    "nodes": "nodes",
    "journal": "journal",
    "faults": "faults",
    "clock": "clock",
    "snapshots": "snapshots",
    "quotas": "quotas",
    "acls": "acls",
    "config": "config",
    "metrics": "metrics",
    "chaos": "chaos",
    "docs": "docs",
}
"""By the name of its picture."""
