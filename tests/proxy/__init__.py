"""In front of a real cluster."""
