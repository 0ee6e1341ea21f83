"""`KafkaStub` and its parts.

stub      what a test's author types first, and the way to the parts
clock     `stub.clock`: broker time
chaos     `stub.chaos`: trouble that a seed decides
faults    `stub.faults`: rules that say which requests meet what
journal   `stub.journal`: what was asked and answered
nodes     `stub.nodes`: nodes that stop and start, leaders and coordinators that move
quotas    `stub.quotas`: what clients may use
tls       `stub.tls`: certificates
registry  `stub.registry`: the schema registry, loaded where one is asked for
control   the control port, loaded where one is asked for
groups    `stub.groups`: groups, their targets, held revocations; waiting for what becomes of a group
waits     waiting for topics, groups, requests, quiet; for coroutines in `aio`
inventory  all that a stub has at one moment, for the report of a failed test
known     who wants to be told of stubs that are closed
runner    what a part needs: the broker, and a way into its thread
thread    the broker in a thread and on a loop of its own
process   the same in a process of its own
replaying  a journal fed to a fresh stub
arguments  what a test may hand in
errors    what all of them raise
"""
