"""What watches requests and meddles with them: journal, metrics and faults. Nothing of it is loaded until one is on."""
