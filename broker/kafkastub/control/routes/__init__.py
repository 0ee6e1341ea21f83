"""The endpoints of the control port, one module a subject, each with `routes(hosted)`."""
