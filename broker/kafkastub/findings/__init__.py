"""Why clients wait or get no records, as far as the broker can see it: for the page and for reports of failed tests."""
