"""The tables, one module each; `columns` says what is in them."""
