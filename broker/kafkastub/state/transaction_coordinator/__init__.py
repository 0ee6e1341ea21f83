"""Transactions as the broker's state has them: their topic, their markers under way, and who asks to join one."""
