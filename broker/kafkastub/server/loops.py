"""Which event loop: uvloop where it exists, asyncio's own elsewhere."""

from __future__ import annotations

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.SelectorEventLoop()  # the one that tells when a listening socket is ready, everywhere
    return uvloop.new_event_loop()
