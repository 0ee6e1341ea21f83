"""`KafkaStub` and its parts."""
