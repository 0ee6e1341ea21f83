"""What the share coordinator writes to `__share_group_state`, beside Apache Kafka."""
