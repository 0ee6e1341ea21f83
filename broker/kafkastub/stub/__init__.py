"""`KafkaStub` and its parts.

stub       `KafkaStub`, and the properties that lead to the parts
clock      `stub.clock`: broker time
chaos      `stub.chaos`: random faults from a seed
faults     `stub.faults`: rules for what happens to which requests
journal    `stub.journal`: requests and answers
nodes      `stub.nodes`: stopping and starting nodes, moving leaders and coordinators
quotas     `stub.quotas`: client quotas
tls        `stub.tls`: certificates
registry   `stub.registry`: the schema registry, loaded on first use
control    the control port, loaded on first use
groups     `stub.groups`: groups, their targets, held revocations, and waits for groups
waits      waits for topics, groups, requests, quiet; as coroutines in `aio`
inventory  all state of a stub at one moment, for the report of a failed test
started    the stubs that were started, and functions to call before they are closed
runner     the interface for the parts: the broker, and calls in its thread
thread     the broker in a separate thread, on a separate loop
process    the broker in a separate process
replaying  replaying a journal on a new stub
arguments  checks of arguments
errors     the exceptions of all of them
"""
