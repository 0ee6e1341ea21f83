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
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
_NUMBERED: Final = 24
"""With more columns than that there is no room for numbers in the cells."""
_SMALL: Final = 8
"""Points: no text is smaller. The page shows a plot no smaller than that this is ten pixels high."""


@dataclass(frozen=True)
class Layout:
    """A plot is drawn twice: for a wide page, and for one as narrow as a phone.

    Attributes:
        width: in inches; the page makes it fit.
        row: inches of height for a row with a name.
        half: half the height of what stands in a row, of the row's.
        longest: letters of a name that fit.
        above: names stand above their rows, and not beside them.
        columns: of a legend.
        day_ticks: a label at so many days.
        numbers: whether numbers fit into the cells.
    """

    name: str
    width: float
    row: float
    half: float
    longest: int
    above: bool
    columns: int
    day_ticks: int
    numbers: bool


WIDE: Final = Layout("wide", 9.6, 0.27, 0.33, 34, False, 4, 4, True)
NARROW: Final = Layout("narrow", 3.3, 0.42, 0.2, 44, True, 2, 8, False)
LAYOUTS: Final = (WIDE, NARROW)


def shown(name: object, longest: int = WIDE.longest) -> str:
    """A name for a label: one line, no control characters, not too long: the middle goes, since names differ in their
    ends."""
    text = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c for c in str(name)
    )
    if not text:
        return "(empty name)"
    if len(text) <= longest:
        return text
    tail = longest // 2
    return f"{text[: longest - 1 - tail]}…{text[-tail:]}"


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


def expiries(by_day: Sequence[Row], as_of: datetime, layout: Layout = WIDE) -> str:
    """Offsets that expire on each day ahead, by rule. Days are UTC's: the first bar is the rest of the day of `as_of`,
    the last is everything later."""
    with _figure(2.9, layout) as (figure, axes, svg):
        bottom = [0] * (DAYS_AHEAD + 1)
        for rule, colour in RULES.items():
            heights = [0] * (DAYS_AHEAD + 1)
            for row in by_day:
                if row["rule"] == rule:
                    heights[row["day"]] += row["offsets"]
            if any(heights):
                axes.bar(range(DAYS_AHEAD + 1), heights, bottom=bottom, color=colour, width=0.78, label=rule)
                bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        days = [as_of.astimezone(UTC).date() + timedelta(days=day) for day in range(DAYS_AHEAD)]
        for day, date in enumerate(days):  # the weekend is what the one on call asks about
            if date.weekday() >= 5:
                axes.axvspan(day - 0.5, day + 0.5, color=LINE, alpha=0.45, linewidth=0, zorder=0)
        ticks = [*range(0, DAYS_AHEAD - 1, layout.day_ticks), DAYS_AHEAD]
        form = "%d %b" if layout.above else "%a %d %b"
        labels = [*(f"{days[t]:{form}}" for t in ticks[:-1]), "later"]
        axes.set_xticks(ticks, labels)
        if layout.above:  # it would touch the other axis's 0
            axes.get_xticklabels()[0].set_horizontalalignment("left")
        axes.set_xlim(-0.9, DAYS_AHEAD + 0.9)
        _counts(axes.yaxis, "offsets")
        _legend(figure, axes, layout)
    return svg[0]


def stale(by_group: Sequence[Row], layout: Layout = WIDE) -> str:
    """Stale offsets of the groups that have most, by the reason."""
    names = list(dict.fromkeys(row["group_id"] for row in by_group))
    series = {
        why: [sum(r["offsets"] for r in by_group if r["group_id"] == name and r["why"] == why) for name in names]
        for why in WHYS
    }
    shares = {why: (WHYS[why], values) for why, values in series.items() if any(values)}
    return _bars(names, shares, "stale offsets", layout)


def lag(groups: Sequence[Row], layout: Layout = WIDE) -> str:
    """Records behind, of the groups with most; how old the oldest unread record is stands at the bar's end."""
    names = [row["group_id"] for row in groups]
    ends = [f"{number(row['records'])} · {duration(row['seconds'])}" for row in groups]
    return _bars(names, {"": (S1, [row["records"] for row in groups])}, "records behind", layout, ends)


def storms(groups: Sequence[Row], layout: Layout = WIDE) -> str:
    """Generations of stormy groups within ten minutes, the most that there were."""
    names = [row["group_id"] for row in groups]
    return _bars(names, {"": (S1, [int(row["peak"]) for row in groups])}, "generations within ten minutes", layout)


def timeouts(rows: Sequence[Row], layout: Layout = WIDE) -> str:
    """What would be the same under each timeout that was tried, what would change, and what is undecided."""
    names = [f"{row['what']}, {milliseconds(row['tried_ms'])}" for row in rows]
    kinds = {"same": ("as it was", S1), "changes": ("otherwise", S4), "undecided": ("undecided", S2)}
    series = {label: (colour, [row[kind] for row in rows]) for kind, (label, colour) in kinds.items()}
    return _bars(names, series, "members' silences, transactions, deliveries", layout)


def milliseconds(value: int) -> str:
    """A timeout."""
    return duration(value / 1000) if value % 1000 == 0 else f"{value:,} ms"


def timelines(events: Sequence[Row], layout: Layout = WIDE) -> str:
    """States of the busiest groups over time, a tick at each rebalance."""
    names = list(dict.fromkeys(r["group_id"] for r in sorted(events, key=lambda r: (-r["events"], r["group_id"]))))
    first, last = min(r["at"] for r in events), max(max(r["at"], r["now"]) for r in events)
    last = max(last, first + 1000)
    with _figure(0.9 + layout.row * len(names), layout) as (figure, axes, svg):
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
            axes.broken_barh(
                found, (y - layout.half, 2 * layout.half), facecolors=STATES[state], alpha=0.85, linewidth=0
            )
        axes.plot([x for x, _ in ticks], [y for _, y in ticks], "|", color=INK, markersize=9, markeredgewidth=1)
        _names(axes, names, layout)
        axes.set_ylim(-0.7, len(names) - 0.3)
        locator = dates.AutoDateLocator(minticks=3 if layout.above else 4, maxticks=4 if layout.above else 9)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        axes.grid(axis="x", color=LINE, linewidth=0.8)
        axes.set_xlim(dates.date2num(moment(first)), dates.date2num(moment(last)))
        marks: list[Any] = [Patch(color=colour, label=state) for state, colour in STATES.items()]
        marks.append(Line2D([], [], color=INK, marker="|", linestyle="", markersize=9, label="rebalance"))
        _legend(figure, axes, layout, marks)
    return svg[0]


def coverage(cells: Sequence[Row], layout: Layout = WIDE) -> str:
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
    with _figure(0.8 + layout.row * (0.9 if layout.above else 0.75) * len(apis), layout) as (figure, axes, svg):
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        for (x, y), (requests, exercised, failed) in grid.items():
            if exercised:
                _cell(axes, x, y, S1, 0.25 + 0.7 * log10(requests + 1) / most, layout)
            else:
                axes.add_patch(_frame(x, y, layout))
            if failed:
                axes.plot([x], [y], "o", color=S4, markersize=3.6, markeredgecolor=GROUND, markeredgewidth=0.6)
        _grid(axes, apis, list(range(versions)), "version", layout)
        marks = [
            Patch(color=S1, alpha=0.95, label="asked often"),
            Patch(color=S1, alpha=0.35, label="asked"),
            Patch(facecolor="none", edgecolor=LINE, label="advertised, never asked"),
            Line2D([], [], color=S4, marker="o", linestyle="", markersize=4, label="answered with an error"),
        ]
        _legend(figure, axes, layout, marks)
    return svg[0]


def api_errors(cells: Sequence[Row], layout: Layout = WIDE) -> str:
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
    with _figure(1.7 + layout.row * 0.9 * len(apis), layout) as (_, axes, svg):
        for (api, error), requests in found.items():
            strength = 0.25 + 0.7 * log10(requests + 1) / most
            _cell(axes, columns[error], rows[api], S4, strength, layout)
            if layout.numbers and len(errors) <= _NUMBERED:
                ink = {"ha": "center", "va": "center", "fontsize": _SMALL, "color": INK}
                axes.text(columns[error], rows[api], number(requests), **ink)
        _grid(axes, apis, errors, "", layout)
        steep = 90 if layout.above else 40
        turned = {"rotation": steep, "ha": "left", "va": "center" if layout.above else "bottom"}
        labels = [shown(one) for one in errors]
        axes.set_xticks(range(len(errors)), labels, **turned, rotation_mode="anchor", fontsize=_SMALL)
    return svg[0]


def _apis(cells: Sequence[Row]) -> list[str]:
    """In the order of their keys."""
    return list(dict.fromkeys(str(r["api"]) for r in sorted(cells, key=lambda r: (r["api_key"], r["api_version"]))))


def _cell(axes: Any, x: int, y: int, colour: str, strength: float, layout: Layout) -> None:
    from matplotlib.patches import Rectangle

    half = 1.25 * layout.half
    axes.add_patch(Rectangle((x - 0.45, y - half), 0.9, 2 * half, facecolor=colour, alpha=strength, linewidth=0))


def _frame(x: int, y: int, layout: Layout) -> Any:
    from matplotlib.patches import Rectangle

    half = 1.15 * layout.half
    return Rectangle((x - 0.43, y - half), 0.86, 2 * half, facecolor="none", edgecolor=LINE, linewidth=1)


def _grid(axes: Any, apis: Sequence[str], columns: Sequence[object], title: str, layout: Layout) -> None:
    _names(axes, apis, layout)
    axes.set_xlim(-0.6, max(len(columns), 12) - 0.4)
    step = 2 if layout.above else 1
    axes.set_xticks(range(0, len(columns), step), [str(one) for one in columns[::step]])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(title, color=SOFT, fontsize=8.5)
    axes.spines["bottom"].set_visible(False)


def _bars(
    names: Sequence[str],
    series: dict[str, tuple[str, list[int]]],
    title: str,
    layout: Layout,
    ends: Sequence[str] | None = None,
) -> str:
    """Horizontal bars, stacked, the first on top."""
    with _figure(0.85 + layout.row * len(names), layout) as (figure, axes, svg):
        places = list(range(len(names)))[::-1]
        left = [0] * len(names)
        for label, (colour, values) in series.items():
            axes.barh(places, values, left=left, color=colour, height=2 * layout.half, label=label)
            left = [a + b for a, b in zip(left, values, strict=True)]
        most = max(left, default=1)
        for place, total, at in zip(places, left, range(len(names)), strict=True):
            text = number(total) if ends is None else ends[at]
            axes.text(total + most * 0.008, place, text, va="center", ha="left", color=SOFT, fontsize=_SMALL)
        _names(axes, names, layout)
        room = 0.08 if ends is None else 0.22
        axes.set_xlim(0, most * (1 + room * WIDE.width / layout.width * (0.75 if layout.above else 1)))
        _counts(axes.xaxis, title)
        if len(series) > 1 or "" not in series:
            _legend(figure, axes, layout)
    return svg[0]


def _names(axes: Any, names: Sequence[str], layout: Layout) -> None:
    """Names of the rows, the first on top."""
    labels = [shown(name, layout.longest) for name in reversed(names)]
    axes.set_ylim(-0.7, len(names) - (0.3 if layout.above else 0.4))
    if layout.above:
        axes.set_yticks([])
        for place, label in enumerate(labels):
            at = {"x": 0, "y": place + 1.3 * layout.half, "transform": axes.get_yaxis_transform()}
            axes.text(s=label, **at, ha="left", va="bottom", color=INK)
        return
    axes.set_yticks(range(len(names)), labels)
    axes.tick_params(axis="y", labelcolor=INK)
    for one in axes.get_yticklabels():
        one.set_parse_math(False)


def _counts(axis: Any, title: str) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_label_text(title, color=SOFT, fontsize=8.5)
    axis.grid(True, color=LINE, linewidth=0.8)


def _legend(figure: Any, axes: Any, layout: Layout, marks: Sequence[Any] | None = None) -> None:
    given = {} if marks is None else {"handles": marks}
    if marks is None and not axes.get_legend_handles_labels()[1]:
        return
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK, "handlelength": 1.1, "handleheight": 0.9}
    place = "outside upper left" if layout.above else "outside upper right"
    figure.legend(loc=place, ncols=layout.columns, **given, **style)


@contextmanager
def _figure(height: float, layout: Layout) -> Iterator[tuple[Any, Any, list[str]]]:
    """A figure, its axes, and a list that has the SVG afterwards."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": f"kafkastub {layout.name}",
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
        figure = Figure(figsize=(layout.width, height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0, pad=5)
        yield figure, axes, svg
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg.append(_dressed(written.getvalue()))


def _dressed(text: str) -> str:
    """The svg element alone, as wide as the page, colours the page's."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(
        r'^<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" role="img" aria-hidden="true">', text, count=1
    )
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    for stand_in, variable in COLOURS.items():
        text = text.replace(stand_in, f"var({variable})")
    return text


def plotted(draw: Callable[..., str], rows: Sequence[Row], *more: Any) -> dict[str, str]:
    """A plot of rows in each layout; none of no rows."""
    return {layout.name: draw(rows, *more, layout) for layout in LAYOUTS} if rows else {}
