"""A journal's requests played again, as the broker's timers saw them: sessions of members, locks of share groups."""
