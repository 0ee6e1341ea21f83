"""Share partitions and the share coordinator by themselves."""
