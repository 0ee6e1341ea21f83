"""Topics that the broker itself writes: a coordinator's records on their way to a log, and back."""
