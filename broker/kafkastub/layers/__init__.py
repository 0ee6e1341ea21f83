"""Middleware, between dispatcher and handler: each a wrapper that can be read alone; `stack` says in which order."""
