"""The share coordinator in its broker, and the way to it. Kafka: ShareCoordinatorService, Persister."""
