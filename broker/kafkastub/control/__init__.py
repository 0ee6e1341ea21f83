"""The control port: a stub's clock, faults, journal, topics, groups and nodes over HTTP, for tests in any language.

    port      the port: a server with the application
    serving   the socket and the HTTP server (uvicorn, on the broker's own loop)
    connections  the connections of it: how many, and how long they may be silent
    visitors  who may ask
    keys      who may change something
    book      the journal, read in slices
    hosted    the broker behind it, and how it was started: what a reset makes again
    parts     what it is given by who hosts the broker: the clock and the faults
    app       the application (FastAPI), its errors and its OpenAPI description
    guard     what every request passes first: limits, and who may ask
    prepared  the application's routes and its description, made bit by bit
    routes/   the endpoints, one module a subject
    page/     what a browser is shown
    metrics   what Prometheus reads

All of it runs in the thread that owns the broker's state. Nothing of it is loaded unless a control port is asked for.
"""
