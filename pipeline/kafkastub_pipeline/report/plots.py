"""The plots, as inline SVG that takes its colours from the page: they follow its light and its dark dress.

matplotlib knows no CSS. It draws with the stand-in colours of `COLOURS`, which become variables in the text of the SVG.
Names of groups are data: they are never mathematics, and characters that XML cannot have are replaced.
"""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, Final

from kafkastub_pipeline.report.facts import DAYS_AHEAD, Row, moment

INK, SOFT, LINE, GROUND = "#010101", "#010102", "#010103", "#010104"
S1, S2, S3, S4, S5 = "#020101", "#020102", "#020103", "#020104", "#020105"
COLOURS: Final = {
    INK: "--ink",
    SOFT: "--soft",
    LINE: "--line",
    GROUND: "--card",
    S1: "--s1",
    S2: "--s2",
    S3: "--s3",
    S4: "--s4",
    S5: "--s5",
}
RULES: Final = {"empty": S1, "simple": S2, "unsubscribed": S3, "explicit": S4}
WHYS: Final = {"unsubscribed": S1, "empty group": S2, "simple group": S3, "no such topic": S4}
STATES: Final = {"Stable": S1, "Empty": S2}
_LONGEST: Final = 34
_WIDTH: Final = 9.6
"""Inches; text of 9 points then has the size of the page's small print."""
_NUMBERED: Final = 24
"""With more columns than that there is no room for numbers in the cells."""


def shown(name: object, longest: int = _LONGEST) -> str:
    """A name for a label: one line, no control characters, not too long."""
    text = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in str(name)
    )
    if not text:
        return "(empty name)"
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def number(value: float | None) -> str:
    """A count as people read it."""
    if value is None:
        return "–"
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == ' k' else size):.3g}{unit}"
    return f"{value:,.0f}"


def duration(seconds: float | None) -> str:
    """A span in its two largest units."""
    if seconds is None:
        return "–"
    sign, left = ("−" if seconds < 0 else ""), int(abs(seconds))
    units = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    for at, (size, unit) in enumerate(units):
        if left >= size:
            whole, rest = divmod(left, size)
            below = units[at + 1] if at + 1 < len(units) else None
            tail = f" {rest // below[0]} {below[1]}" if below and rest >= below[0] and whole < 10 else ""
            return f"{sign}{whole} {unit}{tail}"
    return "0 s"


def expiries(by_day: Sequence[Row], as_of: datetime) -> str:
    """Offsets that expire on each day ahead, by rule; the last bar is everything later."""
    with _figure(2.9) as (figure, axes, svg):
        bottom = [0] * (DAYS_AHEAD + 1)
        for rule, colour in RULES.items():
            heights = [0] * (DAYS_AHEAD + 1)
            for row in by_day:
                if row["rule"] == rule:
                    heights[row["day"]] += row["offsets"]
            if any(heights):
                axes.bar(range(DAYS_AHEAD + 1), heights, bottom=bottom, color=colour, width=0.78, label=rule)
                bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        days = [as_of + timedelta(days=day) for day in range(DAYS_AHEAD)]
        for day, moment_ in enumerate(days):  # the weekend is what the one on call asks about
            if moment_.weekday() >= 5:
                axes.axvspan(day - 0.5, day + 0.5, color=LINE, alpha=0.45, linewidth=0, zorder=0)
        ticks = [*range(0, DAYS_AHEAD - 1, 4), DAYS_AHEAD]
        labels = [*(f"{days[t]:%a %d %b}" for t in ticks[:-1]), "later"]
        axes.set_xticks(ticks, labels)
        axes.set_xlim(-0.7, DAYS_AHEAD + 0.7)
        _counts(axes.yaxis, "offsets")
        _legend(figure, axes)
    return svg[0]


def stale(by_group: Sequence[Row]) -> str:
    """Stale offsets of the groups that have most, by the reason."""
    names = list(dict.fromkeys(row["group_id"] for row in by_group))
    series = {
        why: [sum(r["offsets"] for r in by_group if r["group_id"] == name and r["why"] == why) for name in names]
        for why in WHYS
    }
    return _bars(names, {why: (WHYS[why], values) for why, values in series.items() if any(values)}, "stale offsets")


def lag(groups: Sequence[Row]) -> str:
    """Records behind, of the groups with most; how old the oldest unread record is stands at the bar's end."""
    names = [row["group_id"] for row in groups]
    ends = [f"{number(row['records'])} · {duration(row['seconds'])}" for row in groups]
    return _bars(names, {"": (S1, [row["records"] for row in groups])}, "records behind", ends)


def timelines(events: Sequence[Row]) -> str:
    """States of the busiest groups over time, a tick at each rebalance."""
    names = list(dict.fromkeys(r["group_id"] for r in sorted(events, key=lambda r: (-r["events"], r["group_id"]))))
    first, last = min(r["at"] for r in events), max(max(r["at"], r["now"]) for r in events)
    last = max(last, first + 1000)
    with _figure(0.9 + 0.27 * len(names)) as (figure, axes, svg):
        dates: Any = import_module("matplotlib.dates")  # untyped
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        rows = {name: len(names) - 1 - at for at, name in enumerate(names)}
        spans: dict[tuple[str, int], list[tuple[float, float]]] = {}
        ticks: list[tuple[float, int]] = []
        for row in events:
            start = dates.date2num(moment(row["at"]))
            end = dates.date2num(moment(min(last if row["until"] is None else row["until"], last)))
            if row["state"] in STATES:
                spans.setdefault((row["state"], rows[row["group_id"]]), []).append((start, max(end - start, 0)))
            if row["cause"] not in ("created", "removed", "emptied"):
                ticks.append((start, rows[row["group_id"]]))
        for (state, y), found in spans.items():
            axes.broken_barh(found, (y - 0.3, 0.6), facecolors=STATES[state], alpha=0.85, linewidth=0)
        axes.plot([x for x, _ in ticks], [y for _, y in ticks], "|", color=INK, markersize=9, markeredgewidth=1)
        _names(axes, names)
        axes.set_ylim(-0.7, len(names) - 0.3)
        locator = dates.AutoDateLocator(minticks=4, maxticks=9)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        axes.grid(axis="x", color=LINE, linewidth=0.8)
        axes.set_xlim(dates.date2num(moment(first)), dates.date2num(moment(last)))
        marks: list[Any] = [Patch(color=colour, label=state) for state, colour in STATES.items()]
        marks.append(Line2D([], [], color=INK, marker="|", linestyle="", markersize=9, label="rebalance"))
        _legend(figure, axes, marks)
    return svg[0]


def coverage(cells: Sequence[Row]) -> str:
    """API by version: how often asked; what is advertised and was never asked is an empty frame."""
    from math import log10

    apis = _apis(cells)
    versions = max(row["api_version"] for row in cells) + 1
    rows = {name: len(apis) - 1 - at for at, name in enumerate(apis)}
    grid: dict[tuple[int, int], list[Any]] = {}
    for row in cells:
        found = grid.setdefault((row["api_version"], rows[row["api"]]), [0, False, False])
        found[0] += row["requests"] or 0
        found[1] = found[1] or bool(row["exercised"])
        found[2] = found[2] or row["error_code"] not in (None, 0)
    most = log10(max(one[0] for one in grid.values()) + 1) or 1
    with _figure(0.8 + 0.2 * len(apis)) as (figure, axes, svg):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        for (x, y), (requests, exercised, failed) in grid.items():
            if exercised:
                _cell(axes, x, y, S1, 0.25 + 0.7 * log10(requests + 1) / most)
            else:
                axes.add_patch(_frame(x, y))
            if failed:
                axes.plot([x], [y], "o", color=S4, markersize=3.6, markeredgecolor=GROUND, markeredgewidth=0.6)
        _grid(axes, apis, list(range(versions)), "version")
        marks = [
            Patch(color=S1, alpha=0.95, label="asked often"),
            Patch(color=S1, alpha=0.35, label="asked"),
            Patch(facecolor="none", edgecolor=LINE, label="advertised, never asked"),
            Line2D([], [], color=S4, marker="o", linestyle="", markersize=4, label="answered with an error"),
        ]
        _legend(figure, axes, marks)
    return svg[0]


def api_errors(cells: Sequence[Row]) -> str:
    """API by error: in how many answers."""
    from math import log10

    found: dict[tuple[str, str], int] = {}
    for row in cells:
        if row["error_code"] not in (None, 0):
            key = row["api"], row["error"] or str(row["error_code"])
            found[key] = found.get(key, 0) + (row["requests"] or 0)
    wrong = {api for api, _ in found}
    apis = [api for api in _apis(cells) if api in wrong]
    errors = sorted({error for _, error in found})
    columns = {error: at for at, error in enumerate(errors)}
    rows = {name: len(apis) - 1 - at for at, name in enumerate(apis)}
    most = log10(max(found.values()) + 1) or 1
    with _figure(1.7 + 0.24 * len(apis)) as (_, axes, svg):
        for (api, error), requests in found.items():
            strength = 0.25 + 0.7 * log10(requests + 1) / most
            _cell(axes, columns[error], rows[api], S4, strength)
            if len(errors) <= _NUMBERED:
                ink = {"ha": "center", "va": "center", "fontsize": 7.5, "color": INK}
                axes.text(columns[error], rows[api], number(requests), **ink)
        _grid(axes, apis, errors, "")
        turned = {"rotation": 40, "ha": "left", "va": "bottom", "rotation_mode": "anchor", "fontsize": 7.5}
        axes.set_xticks(range(len(errors)), [shown(one) for one in errors], **turned)
    return svg[0]


def _apis(cells: Sequence[Row]) -> list[str]:
    """In the order of their keys."""
    return list(dict.fromkeys(str(r["api"]) for r in sorted(cells, key=lambda r: (r["api_key"], r["api_version"]))))


def _cell(axes: Any, x: int, y: int, colour: str, strength: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.45, y - 0.41), 0.9, 0.82, facecolor=colour, alpha=strength, linewidth=0))


def _frame(x: int, y: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.43, y - 0.38), 0.86, 0.76, facecolor="none", edgecolor=LINE, linewidth=1)


def _grid(axes: Any, apis: Sequence[str], columns: Sequence[object], title: str) -> None:
    _names(axes, apis)
    axes.set_ylim(-0.6, len(apis) - 0.4)
    axes.set_xlim(-0.6, max(len(columns), 12) - 0.4)
    axes.set_xticks(range(len(columns)), [str(one) for one in columns])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(title, color=SOFT, fontsize=8.5)
    axes.spines["bottom"].set_visible(False)


def _bars(
    names: Sequence[str], series: dict[str, tuple[str, list[int]]], title: str, ends: Sequence[str] | None = None
) -> str:
    """Horizontal bars, stacked, the first on top."""
    with _figure(0.85 + 0.27 * len(names)) as (figure, axes, svg):
        places = list(range(len(names)))[::-1]
        left = [0] * len(names)
        for label, (colour, values) in series.items():
            axes.barh(places, values, left=left, color=colour, height=0.66, label=label)
            left = [a + b for a, b in zip(left, values, strict=True)]
        most = max(left, default=1)
        for place, total, at in zip(places, left, range(len(names)), strict=True):
            text = number(total) if ends is None else ends[at]
            axes.text(total + most * 0.008, place, text, va="center", ha="left", color=SOFT, fontsize=8)
        _names(axes, names)
        axes.set_ylim(-0.7, len(names) - 0.3)
        axes.set_xlim(0, most * (1.08 if ends is None else 1.22))
        _counts(axes.xaxis, title)
        if len(series) > 1 or "" not in series:
            _legend(figure, axes)
    return svg[0]


def _names(axes: Any, names: Sequence[str]) -> None:
    """Row labels, the first on top."""
    axes.set_yticks(range(len(names)), [shown(name) for name in reversed(names)])
    axes.tick_params(axis="y", labelcolor=INK)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)


def _counts(axis: Any, title: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_label_text(title, color=SOFT, fontsize=8.5)
    axis.grid(True, color=LINE, linewidth=0.8)


def _legend(figure: Any, axes: Any, marks: Sequence[Any] | None = None) -> None:
    given = {} if marks is None else {"handles": marks}
    if marks is None and not axes.get_legend_handles_labels()[1]:
        return
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK, "handlelength": 1.1, "handleheight": 0.9, "ncols": 4}
    figure.legend(loc="outside upper right", **given, **style)


@contextmanager
def _figure(height: float) -> Iterator[tuple[Any, Any, list[str]]]:
    """A figure, its axes, and a list that has the SVG afterwards."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "kafkastub",
        "font.family": "sans-serif",
        "font.size": 8.5,
        "axes.edgecolor": LINE,
        "xtick.color": LINE,
        "ytick.color": LINE,
        "xtick.labelcolor": SOFT,
        "ytick.labelcolor": SOFT,
        "text.color": INK,
        "text.parse_math": False,
        "axes.axisbelow": True,
    }
    svg: list[str] = []
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a font without some group's letters: the browser has another
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        yield figure, axes, svg
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg.append(_dressed(written.getvalue()))


def _dressed(text: str) -> str:
    """The svg element alone, as wide as the page, ids its own, colours the page's."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r'^<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" role="img" aria-hidden="true">', text, count=1
    )
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    for stand_in, variable in COLOURS.items():
        text = text.replace(stand_in, f"var({variable})")
    return text


def plotted(draw: Callable[..., str], rows: Sequence[Row], *more: Any) -> str:
    """A plot of rows; nothing of none."""
    return draw(rows, *more) if rows else ""
