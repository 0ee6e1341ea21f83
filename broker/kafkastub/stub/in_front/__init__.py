"""`KafkaProxy`: what a test has in front of a real cluster.

proxy     what a test's author types first, and the way to the parts
asking    what it says of topics, records, groups and offsets: the cluster is asked
refusing  what only a stub can do, and why

Faults, chaos and journal are those of a stub.
"""
