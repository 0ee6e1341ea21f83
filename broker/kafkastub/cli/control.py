"""What the commands share that ask a control port: its address, and HTTP with the standard library alone."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from kafkastub.cli.common import FAILED, add_action, add_output_option, add_token_option, printing, refuse

if TYPE_CHECKING:
    from kafkastub.cli.common import Commands

ADDRESS_VARIABLE = "KAFKASTUB_CONTROL"
DEFAULT_ADDRESS = "http://127.0.0.1:9090"
DEFAULT_PORT = 9090


class ControlError(Exception):
    """It was asked and did not work out; `status` is that of HTTP, 0 where nobody answered."""

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class Control:
    """A control port, asked one thing after the other."""

    def __init__(self, url: str, timeout: float, token: str | None) -> None:
        """`token` is what it wants of whoever changes something. Raises ValueError for what is no address."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            port = parts.port or DEFAULT_PORT
        except ValueError:
            port = -1
        if parts.scheme != "http" or not parts.hostname or port < 0 or parts.path not in ("", "/"):
            raise ValueError(f"--control {url!r} is not an address: expected http://HOST:PORT")
        self.url = url
        self._address = parts.hostname, port
        self._timeout = timeout
        self._token = token

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The answer's JSON. Raises ControlError."""
        with self.opened(method, path, body, **parameters) as response:
            return json.loads(response.read())

    def send(self, method: str, path: str, file: IO[bytes]) -> Any:
        """The answer's JSON to what a file has. Raises ControlError."""
        with self._opened(method, path, file) as response:
            return json.loads(response.read())

    def with_timeout(self, seconds: float) -> Control:
        """The same one, which may take as long to answer."""
        return Control(self.url, seconds, self._token)

    @contextmanager
    def opened(self, method: str, path: str, body: Any = None, **parameters: Any) -> Iterator[HTTPResponse]:
        """The answer, to be read. Raises ControlError."""
        given = {name: value for name, value in parameters.items() if value is not None}
        target = f"{path}?{urlencode(given, doseq=True)}" if given else path
        with self._opened(method, target, None if body is None else json.dumps(body).encode()) as response:
            yield response

    @contextmanager
    def _opened(self, method: str, target: str, body: bytes | IO[bytes] | None) -> Iterator[HTTPResponse]:
        connection = HTTPConnection(*self._address, timeout=self._timeout)
        try:
            headers = {}
            if body is not None and not isinstance(body, bytes):
                headers["Content-Length"] = str(os.fstat(body.fileno()).st_size)
            if self._token is not None:
                headers["Authorization"] = f"Bearer {self._token}"
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise ControlError(_sentence(response), response.status)
            yield response
        except TimeoutError:
            raise ControlError(f"the control port at {self.url} did not answer within {self._timeout:g} s") from None
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ControlError(
                f"no control port answers at {self.url} ({why}): start the broker with --control-port"
            ) from None
        finally:
            connection.close()


def _sentence(response: HTTPResponse) -> str:
    text = response.read().decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if isinstance(said, dict) and "missing" in said:
        return "; ".join(said["missing"])
    if isinstance(said, dict) and "error" in said:
        return str(said["error"])
    return f"the control port answered {response.status} {response.reason}"


def add_control_options(parser: argparse.ArgumentParser, timeout: float = 10) -> None:
    """The options that say which control port is asked, and --output."""
    add_address_options(parser, timeout)
    add_output_option(parser)


def add_address_options(
    parser: argparse.ArgumentParser, timeout: float, what: str = "seconds to wait for an answer"
) -> None:
    """The options that say which control port is asked; `what` its --timeout is."""
    parser.add_argument(
        "--control",
        metavar="URL",
        default=os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS,
        help=f"URL of the control port (default ${ADDRESS_VARIABLE}, else {DEFAULT_ADDRESS})",
    )
    add_token_option(parser, "token of the control port, if it needs one")
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=timeout,
        help=f"{what} (default %(default)s)",
    )


def seconds(text: str) -> float:
    """A length of time, as an argument."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0 and up to 86400")
    return number


def action(
    actions: Commands, name: str, text: str, work: Callable[[argparse.Namespace, Control], int]
) -> argparse.ArgumentParser:
    """One action of a command."""
    parser = add_action(actions, name, text)
    parser.set_defaults(run=printing(with_control(work)))
    add_control_options(parser)
    return parser


def with_control(work: Callable[[argparse.Namespace, Control], int]) -> Callable[[argparse.Namespace], int]:
    """A command's `run`: what is raised becomes a sentence and an exit status."""

    def run(arguments: argparse.Namespace) -> int:
        try:
            return work(arguments, Control(arguments.control, arguments.timeout, arguments.control_token))
        except ValueError as error:
            return refuse(str(error))
        except ControlError as error:
            refuse(str(error))
            return FAILED

    return run
