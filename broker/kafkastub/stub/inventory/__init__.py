"""All that a stub has at one moment, as plain texts in tables: what the report of a failed test shows.

take     the whole of it, in time or not at all
tables   what a table is, and texts that are short
cluster  nodes, topics, the last records, faults, transactions
groups   groups of every type: members, offsets, records in hands, tasks
asked    the journal
"""

from kafkastub.stub.inventory.tables import Inventory, Table
from kafkastub.stub.inventory.take import in_time, journal_alone, taken

__all__ = ["Inventory", "Table", "in_time", "journal_alone", "taken"]
