"""Data sources of Spark: `kafka_offsets`, `kafka_transactions`, `kafka_share_state`, `kafkastub_journal`.

Spark's Python Data Source API finds them by itself, each by a package whose name begins with `pyspark_` and that has a
`DefaultSource`. Spark loads these packages whenever it looks for a data source that Java does not have: on the top
level nothing here imports more than `pyspark.sql.datasource`.

    options.py      what `.option(…)` and a pushed filter ask for
    log.py          an internal topic: planned by partition, read by librdkafka, as batches and as a stream
    columns.py      the columns, for Spark and for Arrow
    offsets.py, transactions.py, share_state.py    what the records of a topic become
    journal.py      the stub's journal, which lies in files
"""
