"""Tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from bench.budgets import STUB, Verdict
from bench.codec import Timing
from bench.results import Results
from bench.settling import MEMBERS, PARTITIONS, Settled
from bench.snapshots import Snapshots
from bench.sustained import Throughput
from bench.upkeep import Upkeep
from bench.volume import Volume
from bench.wire import ECHO, Measured, middle, ratio

NONE = "-"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text in columns: the first one to the left, the others to the right."""
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]

    def line(row: Sequence[str]) -> str:
        first, *others = zip(row, widths, strict=True)
        return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]).rstrip()

    return "\n".join([f"{title}\n", line(head), "  ".join("-" * w for w in widths), *map(line, rows), ""])


def wire_tables(measured: dict[str, Measured]) -> str:
    """Round trips and rates of every contestant, and what failed."""
    names = list(dict.fromkeys(name for found in measured.values() for name in found))
    others = [name for name in names if name != STUB and STUB in names]
    head = ["request", *names, *(f"{STUB}/{other}" for other in others)]

    def rows(attribute: str, second: str | None) -> list[list[str]]:
        return [
            [
                case,
                *(_cell(found, name, attribute, second) for name in names),
                *(_ratio(found, attribute, STUB, other) for other in others),
            ]
            for case, found in measured.items()
        ]

    texts = [
        table("Round trip on one processor, one at a time: p50 / p99 in us", head, rows("p50_us", "p99_us")),
        table("Round trip between processors: p50 / p99 in us", head, rows("apart_p50_us", "apart_p99_us")),
        table("Pipelined, 64 in flight: requests a second", head, rows("per_second", None)),
    ]
    failures = [
        f"  {case}, {name}: {series.failure}"
        for case, found in measured.items()
        for name, series in found.items()
        if series.failure is not None
    ]
    if failures:
        texts.append("\n".join(["Failed:", *failures, ""]))
    return "\n".join(texts)


def codec_table(timings: Sequence[Timing]) -> str:
    """Encoding and decoding of each message."""
    rows = [
        [
            timing.name,
            f"{timing.size:,}",
            _microseconds(timing.encode_ns),
            _microseconds(timing.kio_encode_ns),
            _microseconds(timing.decode_ns),
            _microseconds(timing.kio_decode_ns),
        ]
        for timing in timings
    ]
    head = ["message", "bytes", "encode", "kio encode", "decode", "kio decode"]
    return table("Codec, us a message", head, rows)


def startup_table(found: dict[str, float]) -> str:
    """Start-up and import times."""
    return table("Start-up", ["what", "ms"], [[name, f"{value:.1f}"] for name, value in found.items()])


def upkeep_line(found: Upkeep) -> str:
    """What has no budget: a sweep that expires something, and a restart."""
    return (
        f"{found.offsets:,} offsets: a sweep that expires {found.due:,} of them takes {found.due_ms:.1f} ms, "
        f"a restart from the data directory {found.restart_ms:,.0f} ms.\n"
    )


def snapshots_line(found: Snapshots) -> str:
    """What has no budget: the slowest restore, the way by deleting and creating, a file."""
    return (
        f"{found.records:,} records: the slowest restore takes {found.worst_restore_ms:.1f} ms; topics deleted and "
        f"created again {found.recreate_ms:,.0f} ms; a snapshot to a file ({found.file_mb:.1f} MB) "
        f"{found.save_ms:,.0f} ms, a stub from there {found.load_ms:,.0f} ms.\n"
    )


def settled_table(found: Sequence[Settled]) -> str:
    """A large group of each type, from its first request on."""
    rows = [
        [
            f"{one.kind}, {one.name}",
            f"{statistics.median(one.seconds):.2f}" if one.seconds else "failed",
            f"{one.requests:,}" if one.failure is None else one.failure,
        ]
        for one in found
    ]
    title = f"A group of {MEMBERS:,} members and {PARTITIONS:,} partitions settles"
    return table(title, ["type, server", "s", "requests"], rows)


def volume_table(volumes: Sequence[Volume]) -> str:
    """Many offsets."""
    rows = [
        [
            volume.name,
            f"{volume.offsets:,}",
            f"{volume.per_second[0]:,.0f}",
            f"{statistics.median(volume.per_second):,.0f}",
            _number(volume.bytes_each),
            _number(volume.bytes_each_at_last),
        ]
        for volume in volumes
    ]
    head = ["server", "offsets", "first pass, offsets/s", "median/s", "B an offset", "B after the last pass"]
    return table("Commits of 1,000 partitions, each of another group", head, rows)


def sustained_table(found: dict[str, dict[str, Throughput]]) -> str:
    """MB/s of Kafka's own tools: medians, and the median of the rounds' ratios."""
    names = list(dict.fromkeys(name for by_name in found.values() for name in by_name))
    others = [name for name in names if name != STUB and STUB in names]
    rows = []
    for load, by_name in found.items():
        for what in ("produced", "consumed"):
            series: dict[str, list[float]] = {name: getattr(one, what) for name, one in by_name.items()}
            middles = [statistics.median(series[name]) if series[name] else None for name in names]
            ratios = [_middle_ratio(series[STUB], series[other]) for other in others]
            rows.append([f"{load}, {what}", *map(_number, middles), *ratios])
    head = ["load", *names, *(f"{STUB}/{other}" for other in others)]
    text = table("Kafka's perf tools, one partition: MB/s", head, rows)
    failures = [
        f"  {load}, {name}: {one.failure}"
        for load, by_name in found.items()
        for name, one in by_name.items()
        if one.failure is not None
    ]
    return "\n".join([text, "Failed:", *failures, ""]) if failures else text


def _middle_ratio(ours: list[float], theirs: list[float]) -> str:
    pairs = list(zip(ours, theirs, strict=False))
    return f"{statistics.median(a / b for a, b in pairs):.2f}" if pairs else NONE


def verdict_table(found: Sequence[Verdict]) -> str:
    """The budgets; nothing where there are none."""
    if not found:
        return ""
    words = {True: "met", False: "NOT MET", None: "not measured"}
    rows = [[verdict.what, verdict.budget, verdict.found, words[verdict.met]] for verdict in found]
    return table("Budgets", ["what", "budget", "found", ""], rows)


def machine_line(results: Results) -> str:
    """On what all this was measured."""
    about = results.machine
    load = about.get("load")
    busy = " BUSY: trust the ratios only." if load is not None and load > 0.7 * (about["processors"] or 1) else ""
    return (
        f"Python {about['python']} on {about['system']}, {about['processors']} processors, "
        f"load {NONE if load is None else f'{load:.1f}'} at the start, {results.seconds:.0f} s.{busy}"
    )


def _cell(found: Measured, name: str, attribute: str, second: str | None) -> str:
    value = middle(found, attribute, name)
    if value is None:
        series = found.get(name)
        return "failed" if series is not None and series.failure else NONE
    if second is None:
        return _number(value)
    return f"{value:,.1f} / {_number(middle(found, second, name))}"


def _ratio(found: Measured, attribute: str, of: str, to: str) -> str:
    value = ratio(found, attribute, of, to)
    if value is None:
        return NONE
    return f"{value:.3f}" if to == ECHO and value < 0.1 else f"{value:.2f}"


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def _microseconds(nanoseconds: float | None) -> str:
    return NONE if nanoseconds is None else f"{nanoseconds / 1000:,.2f}"
