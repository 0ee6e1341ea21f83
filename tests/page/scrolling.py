"""How a long list scrolls: the time of each frame, and what was asked for meanwhile."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Final

from tests.page.screen import Screen

_WHEEL: Final = """
async ([frames, pixels]) => {
  const grid = document.querySelector('main [role=grid]');
  const next = () => new Promise(requestAnimationFrame);
  grid.scrollTop = 0;
  for (let warm = 0; warm < 10; warm += 1) await next();
  const times = [];
  let most = 0;
  for (let last = await next(), frame = 0; frame < frames; frame += 1) {
    grid.scrollTop += pixels;
    const now = await next();
    times.push(now - last);
    last = now;
    most = Math.max(most, grid.querySelectorAll('[role=row]').length);
  }
  return {times, most, top: grid.scrollTop, height: grid.scrollHeight};
}
"""
_JUMP: Final = (
    "part => { const grid = document.querySelector('main [role=grid]'); grid.scrollTop = grid.scrollHeight * part }"
)
FRAMES: Final = 240
PIXELS: Final = 90
"""A frame: three rows, which at 60 frames a second is 5,400 pixels a second, a fast wheel."""


@dataclass(frozen=True)
class Scrolled:
    """Attributes: `times`: milliseconds of each frame. `rows`: the most in the document. `asked`: requests."""

    times: list[float]
    rows: int
    asked: int
    total: int

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def slow(self) -> float:
        """The part of the frames that took longer than two of the screen's."""
        return sum(time > 34 for time in self.times) / len(self.times)


def scrolled(screen: Screen) -> Scrolled:
    """Turn the wheel over the list that is shown, from its top."""
    before = len(screen.asked)
    said = screen.page.evaluate(_WHEEL, [FRAMES, PIXELS])
    screen.ready()
    asked = [url for url in screen.asked[before:] if "/v1/events" not in url]
    total = int(screen.page.locator("main [role=grid]").get_attribute("aria-rowcount") or 0) - 1
    return Scrolled(said["times"], said["most"], len(asked), total)


def jumped(screen: Screen, part: float) -> int:
    """Drag the bar to a part of the list; how many requests that took."""
    before = len(screen.asked)
    screen.page.evaluate(_JUMP, part)
    screen.ready()
    return len([url for url in screen.asked[before:] if "/v1/events" not in url])
