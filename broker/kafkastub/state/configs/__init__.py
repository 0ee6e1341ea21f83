"""Configurations of topics, groups, the broker and client metrics: shown and changed."""
