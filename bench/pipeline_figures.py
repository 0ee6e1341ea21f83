"""The pipeline's figures in docs/pipeline.md, and their plot: of each question what was measured last."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
BEGIN = "<!-- figures: written by make bench-pipeline -->\n"
END = "<!-- end of figures -->\n"
PLOT = "pictures/pipeline.svg"
RATIOS = {
    "saved": ("from saved Parquet: decoded, kept, and current offsets found", "reading and counting"),
    "handed": ("the same", "handing every record to Python"),
    "bad": ("the same, 1 % damaged", "undamaged"),
    "kafka": ("the same from a broker", "reading and counting from it"),
}


def write(kept: Path, found: dict[str, Any]) -> None:
    """Keep what was found, beside what was found earlier of other questions, and write the guide anew."""
    known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    when = {"day": f"{datetime.now(UTC):%Y-%m-%d}", "load": round(os.getloadavg()[0], 1), "cores": os.cpu_count()}
    if "runs" in found:
        rows = [one | {"day": when["day"]} for one in found["runs"]]
        found = found | {"runs": _with_others(known["runs"]["found"] if "runs" in known else [], rows)}
    known |= {name: {"when": when, "found": one} for name, one in found.items()}
    kept.write_text(json.dumps(known, indent=1))
    lines = [*_ratios(known), *_stages(known.get("skew")), *_runs(known.get("runs"))]
    guide = DOCS / "pipeline.md"
    text = guide.read_text()
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    guide.write_text(before + "\n" + "\n".join(lines) + "\n" + after)


def _with_others(earlier: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those found, and the earlier ones of other lengths and numbers of workers, in order."""
    rows = {(one["records"], one["workers"]): one for one in [*earlier, *found]}
    return [rows[key] for key in sorted(rows)]


def _measured(one: dict[str, Any]) -> str:
    when = one["when"]
    return f"{when['day']}, {when['cores']} cores, a load of {when['load']} at the end"


def _ratios(known: dict[str, Any]) -> list[str]:
    rows = []
    for name, (what, base) in RATIOS.items():
        if name not in known:
            continue
        one = known[name]["found"]
        target = "" if one["budget"] is None else f"{one['budget']:g}"
        rows.append(
            f"| {what} | {base} | {one['records']:,} | {one['wall']:.1f} : {one['base_wall']:.1f} | {one['ratio']:.2f}"
            f" | {one['cpu']:.1f} : {one['base_cpu']:.1f} | {one['cpu_ratio']:.2f} | {target} |"
        )
    if not rows:
        return []
    last = next(known[name] for name in RATIOS if name in known)
    head = "| what | compared with | records | seconds | times | CPU seconds | times | target |"
    return [head, "|---|---|---|---|---|---|---|---|", *rows, "", f"Best of the rounds ({_measured(last)}).", ""]


def _stages(skew: dict[str, Any] | None) -> list[str]:
    if skew is None:
        return []
    rows = [
        f"| `{one['name'].partition(' at ')[0]}`, stage {one['number']} | {one['tasks']} | {one['median']:.1f}"
        f" | {one['slowest']:.1f} | {one['ratio']:.1f} |"
        for one in skew["found"][:5]
    ]
    records = skew["found"][0]["records"] if skew["found"] else 0
    return [
        "| one group of 10,000 with a third of all records: stage | tasks | median, s | slowest, s | times |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"A whole run over {records:,} records; the least even stages ({_measured(skew)}).",
        "Target: twice the median.",
        "",
    ]


def _runs(runs: dict[str, Any] | None) -> list[str]:
    if runs is None:
        return []
    rows = [
        f"| {one['records']:,} | {one['workers']} | {one['wall']:.0f} | {one['cpu']:.0f}"
        f" | {one['cpu'] * 1e6 / one['records']:.0f} | {one['peak'] / 2**20:.0f} | {one['day']} |"
        for one in runs["found"]
    ]
    _plot(runs["found"])
    return [
        "| a whole run: records | workers | seconds | CPU seconds | CPU, µs a record | largest worker, MiB | day |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        f"A worker is a process of Spark's with one core, its executor of 1 GB, and Python. The machine has "
        f"{runs['when']['cores']} cores.",
        "",
        f"![CPU seconds and memory of a worker over the length of the log]({PLOT})",
        "",
    ]


def _plot(found: list[dict[str, Any]]) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "kafkastub"
    from matplotlib import pyplot as plt

    figure, (times, memory) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for workers in sorted({one["workers"] for one in found}):
        some = [one for one in found if one["workers"] == workers]
        length = [one["records"] / 1e6 for one in some]
        label = f"{workers} worker{'s' if workers > 1 else ''}"
        times.plot(length, [one["cpu"] for one in some], marker="o", label=label)
        memory.plot(length, [one["peak"] / 2**20 for one in some], marker="o", label=label)
    for axes, name in ((times, "CPU seconds of a whole run"), (memory, "largest worker, MiB")):
        axes.set(xlabel="million records", title=name, ylim=(0, None), xlim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend()
    target = DOCS / PLOT
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, metadata={"Date": None})
