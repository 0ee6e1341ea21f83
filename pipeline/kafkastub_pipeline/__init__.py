"""PySpark jobs over `__consumer_offsets` and the request journal: what expires when, what is stale, what was used."""
