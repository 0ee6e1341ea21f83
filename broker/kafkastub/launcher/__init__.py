"""Stubs on request, for suites in any language that have a stub a test: `kafkastub launcher` (docs/launcher.md).

options  what a request may ask for, typed; what is refused names the field
running  one stub: a broker with its control port, on the launcher's loop
stubs    all that run, by id, and their number's limit
app      the requests that start and end them, and their description
port     the HTTP server
"""
