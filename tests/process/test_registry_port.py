"""`kafkastub serve --registry-port`, and the environment of the image."""

from __future__ import annotations

import re
import signal

import httpx

from kafkastub.cli.container import serve_options
from tests.process.serving import Serving, refused

SECONDS = 60
REGISTRY = re.compile(r"kafkastub schema registry on (http://127\.0\.0\.1:\d+)\n")


def test_a_line_says_where_it_is_and_it_answers():
    with Serving("--registry-port", "0") as process:
        assert process.process.stdout is not None
        found = REGISTRY.fullmatch(process.process.stdout.readline())
        assert found
        url = found[1]
        made = httpx.post(f"{url}/subjects/a/versions", json={"schema": '"int"'}, timeout=SECONDS)
        assert made.json()["id"] == 1
        assert httpx.get(f"{url}/schemas/ids/1", timeout=SECONDS).json()["schema"] == '"int"'
        status, _, rest = process.stop(signal.SIGTERM)
        assert (status, rest) == (0, "")


def test_a_port_that_is_none_is_refused():
    status, said = refused("--registry-port", "x")
    assert status == 2
    assert "'x' is not a port" in said


def test_the_image_takes_it_from_the_environment():
    environment = {"KAFKASTUB_REGISTRY_PORT": "8081", "KAFKASTUB_REGISTRY_HOST": "0.0.0.0"}
    options = serve_options(environment)
    for name, value in (("--registry-port", "8081"), ("--registry-host", "0.0.0.0")):
        assert options[options.index(name) + 1] == value
