"""Hypothesis for this room: a busy machine is no failure, and nothing is left in the checkout."""

from hypothesis import settings

settings.register_profile("wire", deadline=None, database=None)
settings.load_profile("wire")
