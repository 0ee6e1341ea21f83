"""The schema registry beside a broker: its state in the topic `_schemas`, its port with Confluent's REST interface.

    kept      the registry of a broker: reads the topic on, writes to it
    requests  what a request says: its path, its parameters, its body
    app       the ASGI application: which handler, what is answered, in which media type
    routes/   the handlers, one module a subject
    port      the port

All of it runs in the thread that owns the broker's state, but for the work on large schemas. Nothing of it is loaded
unless a registry is asked for.
"""
