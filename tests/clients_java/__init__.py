"""The Java client beside the description of the control port; its own tests are Maven's (`make test-clients-java`)."""
