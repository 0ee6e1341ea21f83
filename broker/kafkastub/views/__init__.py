"""The broker as people see it, with what a test may do to it past the protocol: for the stub and the control port."""
