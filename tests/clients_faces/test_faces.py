"""No request of the control port is missing in any language's client, and none is there that the port does not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients_faces.faces import CLIENTS, FACES, Request, request

DOCS = Path(__file__).resolve().parents[2] / "docs"


def described(name: str) -> set[Request]:
    """The requests of a description."""
    paths = json.loads((DOCS / name).read_text())["paths"]
    return {request(method.upper(), path) for path, methods in paths.items() for method in methods}


CONTROL = described("openapi.json")
LAUNCHER = described("launcher.json")


@pytest.mark.parametrize("language", FACES)
def test_a_client_has_every_request_of_the_control_port(language: str):
    assert sorted(CONTROL - FACES[language]()) == []


@pytest.mark.parametrize("language", FACES)
def test_a_client_sends_no_request_that_is_not_described(language: str):
    assert sorted(FACES[language]() - CONTROL - LAUNCHER) == []


@pytest.mark.parametrize("language", FACES)
def test_a_client_starts_and_ends_stubs(language: str):
    assert {request("POST", "/v1/stubs"), request("DELETE", "/v1/stubs/{stub_id}")} <= FACES[language]()


def test_every_language_is_compared():
    not_languages = {
        "binary",
        "comparison",
        "__pycache__",
        "java",
    }  # Java's is compared field by field in tests/clients_java
    folders = {path.name for path in CLIENTS.iterdir() if path.is_dir()} - not_languages
    assert folders == FACES.keys()
