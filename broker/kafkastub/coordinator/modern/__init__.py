"""What the group types with epochs share: consumer, share and streams groups.

The cluster as a coordinator sees it, settings, targets and who computes them. Kafka: the package modern.
"""
