"""Where the tests find `replayed` that `kafkastub conform --against` prints. The suite is `kafkastub_conformance`."""
