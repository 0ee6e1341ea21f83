"""Small plots of lines as SVG, for a light and a dark page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH, _HEIGHT = 210, 130
"""Of one plot, with what is written around it."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 34, 24
_DOTS: Final = 20
"""Points that have dots; more of them would hide the line."""
_STYLE: Final = """
text { font: 10px sans-serif; fill: #333 } .name { font-weight: bold; font-size: 11px } .soft { fill: #777 }
.axis { stroke: #bbb } .line { stroke: #1f6feb; fill: none; stroke-width: 1.6 } .dot { fill: #1f6feb }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .soft { fill: #999 } .axis { stroke: #555 } .line { stroke: #6cb0ff } .dot { fill: #6cb0ff }
}
"""


@dataclass(frozen=True)
class Plot:
    """One line.

    Attributes:
        name: what stands above it.
        unit: of the numbers at the left.
        xs: counts, ascending; the axis begins at 0.
        ys: one for each; the axis begins at 0.
    """

    name: str
    unit: str
    xs: Sequence[float]
    ys: Sequence[float]


def grid(rows: Sequence[Sequence[Plot]]) -> str:
    """The plots beside and below each other."""
    width, height = _WIDTH * max(map(len, rows)), _HEIGHT * len(rows)
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f"<style>{_STYLE}</style>",
    ]
    for down, row in enumerate(rows):
        for across, plot in enumerate(row):
            drawn.append(f'<g transform="translate({across * _WIDTH} {down * _HEIGHT})">{_drawn(plot)}</g>')
    return "\n".join([*drawn, "</svg>", ""])


def short(number: float) -> str:
    """`1.5 M`, `100 k`, `12`, `0.04`."""
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def _drawn(plot: Plot) -> str:
    most_x, most_y = max(plot.xs), max(max(plot.ys), 1e-9) * 1.1
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    points = [
        (_LEFT + wide * x / most_x, _TOP + high * (1 - y / most_y)) for x, y in zip(plot.xs, plot.ys, strict=True)
    ]
    base = _TOP + high
    parts = [
        f'<text class="name" x="{_LEFT}" y="14">{escape(plot.name)}</text>',
        f'<text class="soft" x="{_LEFT}" y="26">{escape(plot.unit)}</text>',
        f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{base}H{_WIDTH - _RIGHT}"/>',
        f'<text class="soft" text-anchor="end" x="{_LEFT - 4}" y="{base}">0</text>',
        f'<text class="soft" text-anchor="end" x="{_LEFT - 4}" y="{_TOP + 8}">{short(most_y)}</text>',
        f'<text class="soft" text-anchor="end" x="{_WIDTH - _RIGHT}" y="{base + 14}">{short(most_x)}</text>',
        f'<path class="line" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>',
    ]
    if len(points) <= _DOTS:
        parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in points]
    return "".join(parts)
