"""The broker's whole state, and what changes it as a whole."""
