// Small plots: lines over the last minutes, with the value under the pointer.
import { html, useRef, useState } from '../lib.js';

const WIDTH = 300;
const HEIGHT = 64;

/** A round number not below this one. */
function ceiling(most) {
  if (most <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 2.5, 5, 10].find((step) => step * unit >= most * 0.999) * unit;
}

/**
 * title; series: [{name, values}], values (null: none) as old as `times` (ms); format: a value as text. What a screen
 * reader is told is the last value of each.
 */
export function Plot({ title, series, times, format, note = null }) {
  const [at, setAt] = useState(null);
  const box = useRef(null);
  const count = times.length;
  const last = series.map((one) => one.values.at(-1) ?? null);
  const top = ceiling(Math.max(0, ...series.flatMap((one) => one.values.filter((value) => value !== null))));
  const span = Math.max(20_000, count ? times.at(-1) - times[0] : 0);
  const x = (index) => WIDTH - ((times.at(-1) - times[index]) / span) * WIDTH;
  const y = (value) => HEIGHT - 1 - (value / top) * (HEIGHT - 4);
  const point = (event) => {
    const { left, width } = box.current.getBoundingClientRect();
    const wanted = ((event.clientX - left) / width) * WIDTH;
    let best = 0;
    for (let index = 0; index < count; index += 1) if (Math.abs(x(index) - wanted) < Math.abs(x(best) - wanted)) best = index;
    setAt(count ? best : null);
  };
  const shown = at === null || at >= count ? null : at;
  const value = (one, index) => (shown === null ? last[index] : one.values[shown]);
  const text = (number) => (number === null || number === undefined ? '–' : format(number));
  return html`<figure class="plot card" aria-label=${`${title}: ${series.map((one, index) => `${one.name} ${text(last[index])}`).join(', ')}`}>
    <figcaption><span class="plot-title">${title}</span><span class="plot-value num">${
      series.length === 1 ? text(value(series[0], 0)) : shown !== null ? html`<span class="faint">${Math.round((times.at(-1) - times[shown]) / 1000)} s ago</span>` : note}</span></figcaption>
    <div class="plot-box" ref=${box} onPointerMove=${point} onPointerLeave=${() => setAt(null)}>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="plot-grid" x1="0" x2=${WIDTH} y1=${HEIGHT - 0.5} y2=${HEIGHT - 0.5} /><line class="plot-grid" x1="0" x2=${WIDTH} y1="3" y2="3" />
        ${series.map((one, index) => html`<path class=${`plot-line plot-${(index % 6) + 1}`} d=${path(one.values, x, y)} />`)}
        ${shown === null ? null : html`<line class="plot-cursor" x1=${x(shown)} x2=${x(shown)} y1="0" y2=${HEIGHT} />`}
      </svg><span class="plot-top faint">${format(top)}</span>
    </div>
    ${series.length > 1 ? html`<ul class="plot-legend">${series.map((one, index) => html`<li><span class=${`plot-key plot-${(index % 6) + 1}`} aria-hidden="true"></span>${one.name}
      <span class="num soft">${text(value(one, index))}</span></li>`)}</ul>` : null}
  </figure>`;
}

function path(values, x, y) {
  let drawn = '';
  let on = false;
  values.forEach((value, index) => {
    if (value === null) {
      on = false;
      return;
    }
    drawn += `${on ? 'L' : 'M'}${x(index).toFixed(1)} ${y(value).toFixed(1)}`;
    on = true;
  });
  return drawn;
}
