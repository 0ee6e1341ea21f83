"""The version of the package, where every room can have it: nothing is imported here."""

__version__ = "1.0.0"
