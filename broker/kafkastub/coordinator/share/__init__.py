"""Share groups: members share partitions, and records are delivered to one of them at a time (KIP-932).

Who is in a group and which partitions each member reads from. What is delivered to whom is not here: see `sharing`.
"""
