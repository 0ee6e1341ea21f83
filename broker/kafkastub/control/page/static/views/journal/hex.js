// Bytes, sixteen a line or eight; only the lines that are seen are drawn.
import { html, useEffect, useState } from '../../lib.js';
import { ascii, hex, useWide } from '../../parts/bytes.js';
import { number } from '../../parts/ui.js';

const LINE = 18; // pixels
const WIDE = 530; // pixels that 16 bytes a line take
const SHOWN = 20; // lines

export function Hex({ label, bytes, size, fields, chosen, choose }) {
  const [box, wide] = useWide(WIDE);
  const [top, setTop] = useState(0);
  const lines = Math.ceil(bytes.length / wide);
  useEffect(() => { // what is chosen is brought into sight
    if (!chosen || chosen.from === 'bytes') return;
    const line = Math.floor(chosen.start / wide);
    const first = Math.floor(box.current.scrollTop / LINE);
    if (line < first || line >= first + SHOWN - 1) box.current.scrollTop = Math.max(0, (line - 2) * LINE);
  }, [chosen?.start, chosen?.end]);
  const first = Math.max(0, Math.floor(top / LINE) - 2);
  const seen = [];
  for (let line = first; line < Math.min(lines, first + SHOWN + 6); line += 1) seen.push(line);
  const pick = (event) => {
    const offset = event.target.dataset?.at;
    if (offset !== undefined) choose(deepest(fields, Number(offset)));
  };
  return html`<div class="hex" role="group" aria-label=${label} tabindex="0" ref=${box} onScroll=${() => setTop(box.current.scrollTop)} onClick=${pick}>
    <div class="hex-body" style=${{ height: `${lines * LINE + (bytes.length < size ? LINE : 0)}px` }}>
      ${seen.map((line) => html`<div key=${line} class="hex-line" style=${{ transform: `translateY(${line * LINE}px)` }}>
        <span class="hex-at">${(line * wide).toString(16).padStart(5, '0')}</span><span class="hex-bytes">${cells(bytes, line, wide, chosen, hex)}</span><span class="hex-text" aria-hidden="true">${cells(bytes, line, wide, chosen, ascii)}</span>
      </div>`)}
      ${bytes.length < size ? html`<div class="hex-line faint" style=${{ transform: `translateY(${lines * LINE}px)` }}>and ${number(size - bytes.length)} bytes more</div>` : null}
    </div>
  </div>`;
}

function cells(bytes, line, wide, chosen, shown) {
  const found = [];
  for (let at = line * wide; at < Math.min(bytes.length, (line + 1) * wide); at += 1) {
    const marked = chosen !== null && at >= chosen.start && at < chosen.end;
    found.push(html`<span data-at=${at} class=${marked ? 'marked' : ''}>${shown(bytes[at])}</span>`);
  }
  return found;
}

/** The smallest field that a byte is in, with where it stands in the tree. */
function deepest(fields, offset, above = '') {
  for (const [index, field] of fields.entries()) {
    if (offset >= field.start && offset < field.end) {
      const path = `${above}/${index}`;
      const inside = field.fields ? deepest(field.fields, offset, path) : null;
      return inside ?? { start: field.start, end: field.end, path, from: 'bytes' };
    }
  }
  return null;
}
