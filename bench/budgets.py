"""What kafkastub has promised to reach, and whether a run shows it.

Budgets are ratios to what else ran in the same run, wherever there is something to compare with.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from bench import checked, contact, observed, page, settling, shares, snapshots
from bench.cases import CASES
from bench.results import Results
from bench.startup import FIXTURE_DOWN, FIXTURE_UP, MEMORY, NEW_STUB, SERVE
from bench.transactions import CASES as REPEATED
from bench.transactions import FETCH_ABORTED, FETCH_PLAIN, STEPS
from bench.wire import ECHO, middle, ratio

STUB, KFAKE, KAFKA = "kafkastub", "kfake", "kafka"

CONSUMER_HEARTBEAT = "consumer-heartbeat"
HEARTBEATS = ("heartbeat", CONSUMER_HEARTBEAT, "share-heartbeat", "streams-heartbeat")
GROUP_APIS = ("offset-commit/", "offset-fetch/", "heartbeat")
TRANSACTIONS = (*(case.name for case in REPEATED), *(step for steps in STEPS.values() for step in steps))
BULK = ("produce/1x100B", "produce/100x1KB", "produce/1000x1KB", "fetch/1MB")


@dataclass(frozen=True)
class Verdict:
    """One budget. `met` is None where nothing was measured that tells; `found` then says why."""

    what: str
    budget: str
    found: str
    met: bool | None


def verdicts(results: Results) -> list[Verdict]:
    """Every budget, in order."""
    return [*_round_trips(results), *_rates(results), *_volume(results), *_starts(results), *_rest(results)]


def _group_cases() -> Iterator[str]:
    for case in CASES:
        if case.name.startswith(GROUP_APIS) and not case.name.endswith("/1000"):
            yield case.name


def _round_trips(results: Results) -> Iterator[Verdict]:
    with_echo = {case.name for case in CASES if case.compared_with_echo}
    for name in _group_cases():
        if name in with_echo:
            yield _at_most(results, name, ECHO, 1.5)
        yield _at_most(results, name, KFAKE, 1.0)
    for name in (*BULK, *TRANSACTIONS, *shares.STEPS, *shares.TOGETHER):
        yield _at_most(results, name, KFAKE, 1.0)
    yield _aborted(results)
    yield from _consumer_groups(results)
    for name in HEARTBEATS:
        yield _at_most(results, name, ECHO, 1.2)
    for case in contact.CASES:
        yield _at_most(results, case.name, KFAKE, 1.0)
    yield _together(results)


def _together(results: Results) -> Verdict:
    """One of each that a client asks first, behind each other; but for the two that are very large."""
    what, budget = "p50 all of a first contact", f"≤ 1 × {KFAKE}"
    sums = dict.fromkeys((STUB, KFAKE), 0.0)
    for case in contact.CASES:
        if case.name in contact.VERY_LARGE:
            continue
        for name in sums:
            found = middle(results.wire.get(case.name, {}), "p50_us", name)
            if found is None:
                return Verdict(what, budget, "not measured", None)
            sums[name] += found
    found = sums[STUB] / sums[KFAKE]
    return Verdict(what, budget, f"{found:.2f} ×", found <= 1)


def _consumer_groups(results: Results) -> Iterator[Verdict]:
    """The consumer protocol (KIP-848): a heartbeat that changes nothing; and a large group of each type."""
    yield _by(results, CONSUMER_HEARTBEAT, "heartbeat", 1.5)
    yield _at_most(results, CONSUMER_HEARTBEAT, KFAKE, 1.0)
    for what, kind in settling.NAMES.items():
        seconds = {
            one.name: statistics.median(one.seconds) for one in results.settled if one.seconds and one.kind == kind
        }
        budget = f"≤ 1 × {KAFKA}"
        if STUB not in seconds or KAFKA not in seconds:
            yield Verdict(what, budget, "not measured", None)
        else:
            found = seconds[STUB] / seconds[KAFKA]
            yield Verdict(what, budget, f"{found:.2f} ×", found <= 1)


def _aborted(results: Results) -> Verdict:
    """A reader of committed records, where everything was aborted, by one where nothing was."""
    return _by(results, FETCH_ABORTED, FETCH_PLAIN, 2)


def _by(results: Results, case: str, other: str, most: float) -> Verdict:
    """One of the stub's round trips by another one of its."""
    what, budget = f"p50 {case}", f"≤ {most:g} × {other}"
    one, two = (
        series.p50_us if series is not None and not series.failure else []
        for series in (results.wire.get(name, {}).get(STUB) for name in (case, other))
    )
    if not one or not two:
        return Verdict(what, budget, "not measured", None)
    found = statistics.median(one) / statistics.median(two)
    return Verdict(what, budget, f"{found:.2f} ×", found <= most)


def _rates(results: Results) -> Iterator[Verdict]:
    for name in _group_cases():
        yield _at_least(results, name, f"pipelined {name}", KFAKE, 2.0)
        yield _at_least(results, name, f"pipelined {name}", KAFKA, 10.0)


def _at_most(results: Results, case: str, peer: str, most: float) -> Verdict:
    """Judged where client and server share a processor, the harder one; beside it what it is between processors."""
    measured = results.wire.get(case, {})
    together, apart = (ratio(measured, attribute, STUB, peer) for attribute in ("p50_us", "apart_p50_us"))
    what, budget = f"p50 {case}", f"≤ {most:g} × {peer}"
    if together is None or apart is None:
        return Verdict(what, budget, _why_not(results, case, peer), None)
    return Verdict(what, budget, f"{together:.2f} × (apart {apart:.2f} ×)", together <= most)


def _at_least(results: Results, case: str, what: str, peer: str, least: float) -> Verdict:
    found = ratio(results.wire.get(case, {}), "per_second", STUB, peer)
    budget = f"≥ {least:g} × {peer}"
    if found is None:
        return Verdict(what, budget, _why_not(results, case, peer), None)
    return Verdict(what, budget, f"{found:.2f} ×", found >= least)


def _why_not(results: Results, case: str, peer: str) -> str:
    measured = results.wire.get(case)
    if measured is None:
        return "not selected"
    for name in (STUB, peer):
        series = measured.get(name)
        if series is None:
            return f"no {name}: {results.absent.get(name, 'not asked for')}"
        if series.failure is not None:
            return f"{name} failed"
    return "nothing measured"


def _volume(results: Results) -> Iterator[Verdict]:
    found = next((volume for volume in results.volumes if volume.name == STUB), None)
    rate, memory = "commit of 1,000 partitions", "memory of a committed offset"
    if found is None:
        yield Verdict(rate, "≥ 750,000 offsets/s", "not measured", None)
        yield Verdict(memory, "≤ 170 B", "not measured", None)
    else:
        each = statistics.median(found.per_second)
        peers = [
            f"{each / statistics.median(peer.per_second):.2f} × {peer.name}"
            for peer in results.volumes
            if peer.name != STUB
        ]
        told = ", ".join([f"{each:,.0f}/s", *peers])
        yield Verdict(rate, "≥ 750,000 offsets/s", told, each >= 750_000)
        size = found.bytes_each
        told = "not told by this system" if size is None else f"{size:.0f} B"
        yield Verdict(memory, "≤ 170 B", told, None if size is None else size <= 170)
    upkeep = results.upkeep
    sweep = f"sweep of {upkeep.offsets if upkeep else 1_000_000:,} offsets, none due"
    if upkeep is None:
        yield Verdict(sweep, "≤ 1 ms", results.absent.get("sweep", "not selected"), None)
    else:
        told = f"{upkeep.nothing_due_ms:.3f} ms (worst {upkeep.worst_ms:.3f})"
        yield Verdict(sweep, "≤ 1 ms", told, upkeep.nothing_due_ms <= 1.0)


def _starts(results: Results) -> Iterator[Verdict]:
    for name, what, most in (
        (SERVE, f"{SERVE} to an answer", 90.0),
        (NEW_STUB, f"{NEW_STUB} to an answer", 1.5),
        (FIXTURE_UP, FIXTURE_UP, 10.0),
        (FIXTURE_DOWN, FIXTURE_DOWN, 10.0),
    ):
        found = results.startup.get(name)
        if found is None:
            yield Verdict(what, f"≤ {most:g} ms", results.absent.get("startup", "not selected"), None)
        else:
            yield Verdict(what, f"≤ {most:g} ms", f"{found:.1f} ms", found <= most)
    memory = results.startup.get(MEMORY)
    told = "not measured" if memory is None else f"{memory:.1f} MiB"
    yield Verdict(
        "memory of kafkastub serve at its ready line", "≤ 28 MiB", told, None if memory is None else memory <= 28
    )


def _snapshots(results: Results) -> Iterator[Verdict]:
    found = results.snapshots
    for what, took, most in (
        ("a snapshot", found and found.take_ms, 5.0),
        ("a restore", found and found.restore_ms, 10.0),
    ):
        count = found.records if found else 1_000_000
        name, budget = f"{what} of 100 topics, {count:,} records", f"≤ {most:g} ms"
        if took is None:
            yield Verdict(name, budget, results.absent.get(snapshots.NAME, "not selected"), None)
        else:
            yield Verdict(name, budget, f"{took:.1f} ms", took <= most)


def _rest(results: Results) -> Iterator[Verdict]:
    yield from _snapshots(results)
    yield from _page(results)
    yield from _checked(results)
    for case in observed.CASES:
        what, budget = f"{case} with journal, metrics, a fault rule", f"≥ {observed.BUDGET:g} × without"
        found = results.observed.get(case)
        if found is None:
            yield Verdict(what, budget, results.absent.get(observed.NAME, "not selected"), None)
        else:
            yield Verdict(what, budget, f"{found.rate:.2f} ×", found.rate >= observed.BUDGET)


def _checked(results: Results) -> Iterator[Verdict]:
    for case in checked.ROWS:
        what, budget = f"{case} with guarantees checked", f"≥ {checked.BUDGET:g} × with the journal alone"
        found = results.checked.get(case)
        if found is None:
            yield Verdict(what, budget, results.absent.get(checked.NAME, "not selected"), None)
        else:
            yield Verdict(what, budget, f"{found.rate:.2f} ×", found.rate >= checked.BUDGET)


def _page(results: Results) -> Iterator[Verdict]:
    found, absent = results.page, results.absent.get(page.NAME, "not selected")
    what, budget = "the page's first paint, a fresh process", f"≤ {page.PAINT_MS:g} ms"
    if found is None:
        yield Verdict(what, budget, absent, None)
        return
    paint = statistics.median(found.first_paints)
    rows = statistics.median(found.first_rows)
    yield Verdict(what, budget, f"{paint:.0f} ms (rows: {rows:.0f} ms)", paint <= page.PAINT_MS)
    for view, scroll in found.scrolls.items():
        what, budget = f"scrolling {scroll.total:,} {view}", f"≤ {page.FRAME_MS:g} ms a frame"
        told = f"{scroll.median:.1f} ms, {scroll.slow:.0%} slow, {scroll.rows} rows, {scroll.asked} requests"
        yield Verdict(what, budget, told, scroll.median <= page.FRAME_MS)
    for name, cost in found.costs.items():
        what, budget = f"{name} open", f"≥ {page.BUDGET:g} × without a page"
        yield Verdict(what, budget, f"{cost.rate:.2f} ×", cost.rate >= page.BUDGET)
