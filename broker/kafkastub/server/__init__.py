"""Sockets, loop, timers: what turns bytes into requests and outcomes into bytes."""
