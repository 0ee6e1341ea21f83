"""What drives share partitions in their broker. Kafka: SharePartitionManager."""
