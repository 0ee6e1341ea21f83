"""The short form of `make soak-hour`, and how its series are judged."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.soak.report import picture, read, save, section
from tests.soak.series import SERIES, each_minute, judged, progress
from tests.soak.soak import Soak, soak

MEMORY_MB = 25.0
"""More than a broker takes for what it keeps on purpose, which fills in the first ten minutes."""


def samples(key: str, values: list[float]) -> list[dict[str, Any]]:
    """One each five seconds."""
    return [{"at": 5.0 * number, key: value, "done": {"one": number}} for number, value in enumerate(values)]


def of(key: str, values: list[float]) -> bool:
    (found,) = (one for one in judged(samples(key, values)) if one.series.key == key)
    return found.flat


@pytest.mark.parametrize("key", [one.key for one in SERIES if one.budget])
def test_what_fills_in_the_first_sixth_is_flat_and_what_grows_is_not(key: str) -> None:
    full = 10_000.0
    fills = [full * min(1.0, number / 100) for number in range(720)]
    assert of(key, fills)
    assert of(key, [value * (5 if number % 40 == 7 else 1) for number, value in enumerate(fills)])  # now and then
    assert not of(key, [full * (1 + number / 180) for number in range(720)])


def test_a_client_that_stops_is_seen() -> None:
    seen = samples("memory_mb", [1.0] * 120)
    for sample in seen:
        sample["done"]["other"] = min(int(sample["at"]), 480)
    assert progress(seen)["one"][-1] > 0
    assert progress(seen)["other"][-1] == 0


def test_plots_have_a_value_for_each_minute() -> None:
    assert each_minute(samples("memory_mb", [1.0] * 24 + [3.0] * 12), "memory_mb") == ([1, 2, 3], [1.0, 1.0, 3.0])


def test_the_section_has_a_row_for_each_series_and_a_plot_for_most(tmp_path: Path) -> None:
    seen = [{one.key: 7.0 for one in SERIES} | {"at": 5.0 * at, "done": {"one": at}} for at in range(120)]
    file = tmp_path / "soak.json"
    save(Soak(600.0, seen, judged(seen), progress(seen), {}, {"acts": 3}, {"kcat": 2}, {}, [], 0.1), file)
    found = read(file)
    rows = section(found).splitlines()
    assert {f"| {one.name}, {one.unit} | 7 | 7 | 7 |" for one in SERIES} <= {
        row.rpartition(" | ")[0] + " |" for row in rows
    }
    assert "| one | 119 |" in rows
    assert "| acts | 3 |" in rows
    assert len(ElementTree.fromstring(picture(found)).findall("{http://www.w3.org/2000/svg}g")) == 8


@pytest.fixture
def noise_of_clients() -> Iterator[None]:
    """They tell of each fault, and aiokafka leaves things to the collector, which is called before the next test."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    gc.collect()


@pytest.mark.soak
@pytest.mark.usefixtures("noise_of_clients")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_minute_with_few_clients() -> None:
    found = soak(1.0, 20.0, kits=("python",), jvms=False, page=False, counted=1, say=print)
    assert found.wrong == []
    assert [name for name, row in found.clients.items() if not sum(row)] == []
    memory = next(one for one in found.series if one.series.key == "memory_mb")
    assert memory.last < memory.second + MEMORY_MB
    assert found.programs["aiokafka-classic turns"] > 0
