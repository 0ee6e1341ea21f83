"""PySpark jobs over `__consumer_offsets` and the request journal: what expires when, what is stale, what was used."""

from kafkastub_pipeline.zips import forget_what_has_changed

forget_what_has_changed()
