"""The transaction coordinator by itself."""
