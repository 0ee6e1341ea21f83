"""`kafkastub launcher`: stubs on request, over HTTP, in one process."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal
from typing import TYPE_CHECKING, Final

from kafkastub.cli.common import refuse, token
from kafkastub.cli.serving import (
    Refused,
    add_log_options,
    end_with_standard_input,
    host,
    is_number,
    load_control,
    port,
    say,
)

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

_MOST: Final = 10_000
_YOUNG: Final = 20_000
"""Objects more than before after which the garbage collector looks through the young ones."""


def add_to(commands: Commands) -> None:
    """Add the command to the parser."""
    launcher = commands.add_parser(
        "launcher",
        help="start and stop stubs on request over HTTP, for suites with one stub for each test",
        description="Start and stop stubs on request over HTTP, until standard input is closed, SIGTERM or SIGINT. One "
        "line on standard output has the URL, and the token that each request needs (docs/launcher.md).",
    )
    launcher.set_defaults(run=_launcher)
    launcher.add_argument(
        "--host", type=host, default="127.0.0.1", help="address to listen on (default %(default)s, this machine only)"
    )
    launcher.add_argument(
        "--port", type=port, default=0, help="port to listen on, 0 for any free port (default %(default)s)"
    )
    launcher.add_argument(
        "--token",
        type=token,
        metavar="TOKEN",
        help="token that requests need (default: a new one, in the line on standard output)",
    )
    launcher.add_argument(
        "--most-stubs",
        type=_most,
        default=256,
        metavar="N",
        help="limit of stubs that run at the same time (default %(default)s)",
    )
    add_log_options(launcher)


def _most(text: str) -> int:
    if not is_number(text) or not 1 <= int(text) <= _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of stubs: 1 to {_MOST} is allowed")
    return int(text)


def _launcher(arguments: argparse.Namespace) -> int:
    from kafkastub.server.descriptors import raise_limit
    from kafkastub.server.loops import new_event_loop
    from kafkastub.server.node_listener import ListenError

    try:
        load_control(0)
    except ValueError as error:
        return refuse(str(error).replace("a control port", "a launcher"))
    raise_limit()
    loop = new_event_loop()
    try:
        loop.run_until_complete(_run(arguments))
    except (ListenError, Refused) as error:
        return refuse(str(error))
    finally:
        loop.close()
    return 0


async def _run(arguments: argparse.Namespace) -> None:
    import secrets

    from kafkastub.launcher.port import LauncherPort, warm_up
    from kafkastub.launcher.stubs import Stubs
    from kafkastub.server.logs import process_logger

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    end_with_standard_input(stop.set)
    log = process_logger(arguments.log_format, arguments.log_level)
    secret = arguments.token or secrets.token_urlsafe(24)
    stubs = Stubs(log, secret, arguments.most_stubs)
    server = LauncherPort(stubs, log, arguments.host, arguments.port, secret)
    try:
        await server.open()
        await warm_up(stubs)
        # What is loaded now stays; stubs that have ended are garbage, and are to be found.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_YOUNG)
        shown = secret if arguments.token is None else "as given"
        say(f"kafkastub launcher ready on {server.url} (token {shown})")
        await stop.wait()
    finally:
        await server.close()
        await stubs.end_all()
