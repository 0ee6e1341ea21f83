"""What drives share partitions and the share coordinator in their broker."""
