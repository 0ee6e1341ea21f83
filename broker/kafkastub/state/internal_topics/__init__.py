"""Topics that the broker itself writes: coordinators' records on their way to logs, and back."""
