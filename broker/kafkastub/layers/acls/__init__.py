"""Guards: what of a request the principal may not have is taken out, and refused in Kafka's place and words."""
