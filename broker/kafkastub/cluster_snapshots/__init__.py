"""A snapshot of a real cluster: what its clients may ask, read through its ports and written as a snapshot's file.

`taking` is the whole of it, in its order; `source` asks, `contents` says what stands in the document, `logs` what the
partitions have, `archive` writes. All of it blocks: a loop calls it in a thread.
"""
