"""`make release` from a step on: each step is a make target of its own, without the options of the release."""

from __future__ import annotations

import subprocess

import pytest

from tests.dist import release


def test_it_goes_on_from_a_step(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """As make calls it, which hands the variables of its command line on in MAKEFLAGS."""
    monkeypatch.setenv("MAKEFLAGS", "n -- ARGS=--from\\ test-site")
    monkeypatch.setattr(release, "not_ready", lambda of: ())
    monkeypatch.setattr(release, "built", lambda: ())
    monkeypatch.setattr(release, "STEPS", ("check", "test-site"))
    assert release.main(["--from", "test-site"]) == 0
    said = capfd.readouterr().out
    assert "-m site tests/docs/test_site.py" in said
    assert "--from" not in said
    assert "make check:" not in said


def test_what_fails_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    class Failed:
        returncode = 2

    monkeypatch.setattr(release, "not_ready", lambda of: ())
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Failed)
    assert release.main(["--from", "dist"]) == 1
    assert "make release ARGS='--from dist' goes on from here" in capfd.readouterr().err
