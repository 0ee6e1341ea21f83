"""Groups of the consumer protocol (KIP-848): members told by heartbeats what is theirs, epochs instead of generations.

`groups.ConsumerGroups` is the face. Nothing here is loaded before it is needed: by the first such request, or by a
record of such a group.
"""
