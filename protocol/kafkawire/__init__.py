"""The Kafka wire, sans I/O: messages, codec, framing, record batches. Knows nothing of sockets, loops or clocks."""
