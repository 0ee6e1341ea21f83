"""What the broker answers: one module an API key, so that the listing is the table of contents."""
