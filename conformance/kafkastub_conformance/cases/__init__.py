"""The catalogue, a module an area."""
