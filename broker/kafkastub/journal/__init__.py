"""The journal: every request and its answer. The server writes the `ring`; the rest reads. Guide: docs/journal.md."""

from __future__ import annotations

from kafkastub.journal.entry import Entry
from kafkastub.journal.journal import Journal, JournalTimeout
from kafkastub.journal.ring import DEFAULT_BYTES, DEFAULT_ENTRIES, Outcome, Raw, Ring

__all__ = ["DEFAULT_BYTES", "DEFAULT_ENTRIES", "Entry", "Journal", "JournalTimeout", "Outcome", "Raw", "Ring"]
