"""The conformance suite: cases that show whether a broker answers as Kafka does, for any broker at all.

    kafkastub conform --bootstrap-servers localhost:9092 --report conformance.html

A case (`kafkastub_conformance.cases`) is a function that asks a broker and says what it expects. It runs once for every
version of its API that the broker advertises. It makes groups and topics under names of its own, which are removed
afterwards; it looks at nothing else.
"""
