"""The views of the page, with an address of each in the shop (`scenes.Shop`)."""

from __future__ import annotations

from typing import Final

VIEWS: Final[dict[str, str]] = {
    "overview": "overview",
    "topics": "topics",
    "topic": "topics/orders",
    "records": "topics/orders/records?partition=0",
    "record": "topics/orders/records?partition=0&offset=97",
    "groups": "groups",
    "group": "groups/billing",
    "group-classic": "groups/reports",
    "group-left": "groups/nightly-export",
    "group-offsets": "groups/nightly-export/partitions",
    "group-share": "groups/couriers",
    "group-share-records": "groups/couriers/records",
    "group-streams": "groups/word-count",
    "group-streams-topology": "groups/word-count/topology",
    "transactions": "transactions",
    "transaction": "transactions/checkout-2",
    "transactions-hanging": "transactions/hanging",
    "nodes": "nodes",
    "journal": "journal",
    "journal-entry": "journal/{entry}",
    "faults": "faults",
    "clock": "clock",
    "snapshots": "snapshots",
    "quotas": "quotas",
    "acls": "acls",
    "config": "config",
    "check": "check",
    "metrics": "metrics",
    "chaos": "chaos",
    "docs": "docs",
}
"""By the name of its picture; `Shop.address` fills in what is known when the shop is open."""
