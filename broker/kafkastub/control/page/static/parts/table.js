// Lists. VirtualTable asks for the rows that are seen and no others; Table is for what is short.
import { html, cx, useEffect, useId, useLayoutEffect, useRef, useState } from '../lib.js';
import { go } from '../router.js';
import { restedAt } from './data.js';
import { useWaiting } from './ready.js';
import { ErrorNote } from './ui.js';

const CHUNK = 100; // rows that are asked for together
const OVERSCAN = 6; // rows above and below what is seen
const TALLEST = 8_000_000; // pixels: browsers end somewhere above; longer lists scroll in larger steps
const SETTLE_MS = 50; // a list that flies by asks for what it flies to
const KEPT_CHUNKS = 30;
const LINE = 18; // pixels of a line below another
const NARROW = 620; // pixels: a list that is narrower leaves out what can be left out

const narrow = matchMedia('(max-width: 640px)');

/** Whether the window is a phone's. */
function useNarrow() {
  const [is, setIs] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setIs(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return is;
}

/**
 * The keyboard goes on where it was: once the row that has the focus is gone, its neighbour has it, at the same place in it;
 * where no row is left, the heading above. Gives the handlers of the frame.
 */
function useFocusKept(frame, isEmpty) {
  const had = useRef(null); // {element, row, place, heading}
  useLayoutEffect(() => {
    const { element, row, place, heading } = had.current ?? {};
    if (!element || element.isConnected || document.activeElement !== document.body) return;
    had.current = null;
    if (isEmpty) {
      heading?.focus();
      return;
    }
    const next = [...frame.current.querySelectorAll('tbody tr')].slice(0, row + 1).at(-1);
    ([...next.querySelectorAll(FOCUSABLE)].at(place) ?? frame.current).focus();
  });
  return {
    onFocusIn: ({ target }) => {
      const row = target.closest('tbody tr');
      const inRow = [...(row?.querySelectorAll(FOCUSABLE) ?? [])];
      had.current = row && { element: target, row: row.sectionRowIndex, place: inRow.indexOf(target) - inRow.length,
        heading: target.closest('section')?.querySelector('h2') };
    },
    onFocusOut: ({ target, relatedTarget }) => { // a row that goes takes the focus along; whoever leaves it, is let go
      if (relatedTarget) had.current = null;
      else queueMicrotask(() => { if (target.isConnected && document.activeElement !== target) had.current = null; });
    },
  };
}

const FOCUSABLE = 'a[href], button:not(:disabled)';

const cell = (column, row, index) => (column.render ? column.render(row, index) : row[column.key]);
const cellClass = (column) => cx('cell', column.align === 'end' && 'end', column.mono && 'mono', column.grow && 'grow', column.line && 'line');

/** The rows of a list by chunks: which are there, which have to be asked for. */
class Chunks {
  constructor(load, told) {
    this.load = load;
    this.told = told;
    this.rows = new Map(); // chunk -> {rows, version}
    this.asked = new Map(); // chunk -> version
    this.total = null;
    this.error = null;
    this.ended = false;
    this.rested = 0; // when what is there may be asked for anew
    this.timer = null;
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
  }

  row(index) { return this.rows.get(Math.floor(index / CHUNK))?.rows[index % CHUNK]; }

  /** Have the rows from `first` to `last` of this version, or ask for them. */
  want(first, last, version) {
    const from = Math.max(0, Math.floor(first / CHUNK));
    const to = Math.max(from, Math.floor(last / CHUNK));
    for (const chunk of this.rows.keys()) {
      const far = chunk < from - KEPT_CHUNKS / 2 || chunk > to + KEPT_CHUNKS / 2;
      const stale = this.rows.get(chunk).version !== version;
      if (far || (stale && (chunk < from || chunk > to))) this.rows.delete(chunk);
    }
    for (let chunk = from; chunk <= to; chunk += 1) {
      if (this.total !== null && chunk * CHUNK >= Math.max(1, this.total) && this.rows.get(from)?.version === version) break;
      if (this.asked.has(chunk)) continue;
      if (!this.rows.has(chunk)) this.ask(chunk, version);
      else if (this.rows.get(chunk).version !== version) this.renew(chunk, version);
    }
  }

  /** Where answers take long, what is there is asked for less often. */
  renew(chunk, version) {
    const rest = this.rested - performance.now();
    if (rest <= 0) this.ask(chunk, version);
    else this.timer ??= setTimeout(() => { this.timer = null; this.told(); }, rest);
  }

  async ask(chunk, version) {
    this.asked.set(chunk, version);
    const begun = performance.now();
    try {
      const { rows, total } = await this.load(chunk * CHUNK, CHUNK);
      if (this.ended) return;
      this.rows.set(chunk, { rows, version });
      this.total = total;
      this.error = null;
    } catch (error) {
      if (this.ended || error.name === 'AbortError') return;
      this.error = error;
      this.rows.set(chunk, { rows: this.rows.get(chunk)?.rows ?? [], version });
    } finally {
      this.asked.delete(chunk);
      this.rested = restedAt(begun);
    }
    this.told();
  }
}

/**
 * A list of any length.
 *
 * label: its name for those who hear it. columns: [{key, title, width, align, mono, narrow, render(row, index)}], `width` as
 * in a CSS grid, `narrow: false` hides it where there is little room, `line` gives it a line of its own on a phone. load(offset, limit) -> {rows, total}. version: another one asks again
 * for what is seen. source: what list it is; another one begins at the top. href(row) or onOpen(row, index): what a row
 * leads to. selected(row): whether it is the one that is open. empty: shown where there is nothing. start: the first row. onTop(is): whether
 * the first row is seen.
 */
export function VirtualTable({
  label, columns, load, version = 0, source = '', href, onOpen, selected, empty = null, rowHeight: lineHeight = 30, start = 0,
  rowTone, onTop,
}) {
  const scroller = useRef(null);
  const id = useId();
  const [, redraw] = useState(0);
  const [seen, setSeen] = useState({ top: 0, height: 600, width: 1000 });
  const lined = useNarrow() && columns.some((column) => column.line);
  const rowHeight = lineHeight + (lined ? LINE : 0);
  const view = { ...seen, height: seen.height - rowHeight };
  const shown = view.width < NARROW ? columns.filter((column) => column.narrow !== false) : columns;
  const [active, setActive] = useState(-1);
  const state = useRef({ chunks: null, source: null, timer: null, lastTop: 0, frame: 0 }).current;
  const latest = useRef(load);
  latest.current = load;
  if (state.source !== source) {
    state.chunks?.end();
    state.chunks = new Chunks((...asked) => latest.current(...asked), () => redraw((one) => one + 1));
    state.source = source;
    state.begin = true;
  }
  const { chunks } = state;
  const total = chunks.total ?? 0;
  useWaiting(chunks.total === null && !chunks.error);
  const place = placed(total, rowHeight, view);

  const look = () => {
    const box = scroller.current;
    if (box) setSeen({ top: box.scrollTop, height: box.clientHeight, width: box.clientWidth });
  };
  useLayoutEffect(() => {
    const box = scroller.current;
    const observer = new ResizeObserver(look);
    observer.observe(box);
    look();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(state.frame);
      clearTimeout(state.timer);
      state.chunks.end();
      state.source = null;
    };
  }, []);
  useLayoutEffect(() => { // another list begins at its top, or where it is told to
    if (!state.begin) return;
    if (chunks.total === null && start > 0) return;
    state.begin = false;
    setActive(start > 0 ? start : -1);
    scroller.current.scrollTop = start > 0 ? topOf(start, total, rowHeight, view.height) : 0;
  });
  const atTop = view.top < rowHeight / 2;
  useEffect(() => onTop?.(atTop), [atTop]);
  useEffect(() => {
    const flies = Math.abs(view.top - state.lastTop) > 3 * Math.max(view.height, 300);
    state.lastTop = view.top;
    clearTimeout(state.timer);
    const first = chunks.total === null && start > 0 ? start : place.first;
    const want = () => state.chunks.want(first, first + place.count - 1, version);
    if (flies) state.timer = setTimeout(want, SETTLE_MS);
    else want();
  });

  const onScroll = () => {
    cancelAnimationFrame(state.frame);
    state.frame = requestAnimationFrame(look);
  };
  const bring = (index) => {
    const box = scroller.current;
    const to = Math.max(0, Math.min(total - 1, index));
    setActive(to);
    if (to < place.exact || to >= place.exact + Math.floor(view.height / rowHeight)) {
      const above = to < place.exact ? to : to - Math.floor(view.height / rowHeight) + 1;
      box.scrollTop = topOf(above, total, rowHeight, view.height);
      look(); // the next key may come before the next frame
    }
  };
  const open = (row, index) => {
    if (row === undefined) return;
    setActive(index);
    if (href) go(href(row, index));
    else onOpen?.(row, index);
  };
  const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
  const at = active < 0 ? Math.ceil(place.exact) - 1 : active;
  const keys = {
    ArrowDown: () => bring(at + 1), ArrowUp: () => bring(Math.max(0, at - 1)), PageDown: () => bring(Math.max(0, at) + page),
    PageUp: () => bring(at - page), Home: () => bring(0), End: () => bring(total - 1), Enter: () => open(chunks.row(active), active),
  };
  const onKeyDown = (event) => {
    if (event.target !== scroller.current || event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  const onClick = (event, row, index) => {
    if (event.target.closest('a, button, input') || String(getSelection())) return;
    open(row, index);
  };

  const indexes = [];
  for (let index = place.first; index < Math.min(total, place.first + place.count); index += 1) indexes.push(index);
  const template = { gridTemplateColumns: shown.filter((column) => !(lined && column.line)).map((column) => column.width ?? '1fr').join(' ') };
  const opens = Boolean(href || onOpen);
  const activeShown = active >= place.first && active < place.first + place.count;
  return html`<div class="grid-frame">
    <${ErrorNote} error=${chunks.error} />
    <div class=${cx('grid', lined && 'lined')} role="grid" aria-label=${label} aria-rowcount=${chunks.total === null ? -1 : total + 1}
      style=${{ maxHeight: chunks.total === null ? null : `${chunks.total ? (total + 1) * rowHeight + 3 : 180}px` }}
      aria-colcount=${shown.length} aria-busy=${chunks.total === null ? 'true' : undefined} tabindex="0" ref=${scroller}
      onScroll=${onScroll} onKeyDown=${onKeyDown} aria-activedescendant=${activeShown ? `${id}-${active}` : undefined}>
      <div class="grid-head" role="rowgroup"><div class="grid-row" role="row" aria-rowindex="1" style=${{ ...template, height: `${rowHeight}px` }}>
        ${shown.map((column) => html`<div role="columnheader" class=${cellClass(column)} title=${column.help}>${column.title}</div>`)}
      </div></div>
      <div class="grid-body" role="rowgroup" style=${{ height: `${place.tall}px` }}>
        ${indexes.map((index) => {
          const row = chunks.row(index);
          const tone = row && rowTone?.(row);
          return html`<div key=${index} id=${`${id}-${index}`} role="row" aria-rowindex=${index + 2}
            aria-selected=${row && selected ? String(Boolean(selected(row))) : undefined}
            class=${cx('grid-row', opens && row && 'opens', index === active && 'active', tone)}
            style=${{ ...template, height: `${rowHeight}px`, transform: `translateY(${place.y(index)}px)` }}
            onClick=${opens ? (event) => onClick(event, row, index) : undefined}>
            ${shown.map((column, number) => html`<div role="gridcell" class=${cellClass(column)}>${
              row === undefined ? (number === 0 ? html`<span class="faint">…</span>` : '')
                : number === 0 && href ? html`<a href=${href(row, index)} tabindex="-1">${cell(column, row, index)}</a>`
                  : cell(column, row, index)}</div>`)}
          </div>`;
        })}
      </div>
      ${chunks.total === 0 && !chunks.error ? html`<div role="row" class="grid-empty"><div role="gridcell">${empty}</div></div>` : null}
    </div>
  </div>`;
}

/** Where rows are: the body's height, the first row and how many are drawn, and each one's place in it. */
function placed(total, rowHeight, { top, height }) {
  const full = total * rowHeight;
  const tall = Math.min(full, TALLEST);
  const fits = height / rowHeight;
  const exact = full <= TALLEST ? top / rowHeight : (top / Math.max(1, tall - height)) * Math.max(0, total - fits);
  const first = Math.max(0, Math.floor(exact) - OVERSCAN);
  const count = Math.ceil(fits) + 2 * OVERSCAN + 1;
  const y = full <= TALLEST ? (index) => index * rowHeight : (index) => top + (index - exact) * rowHeight;
  return { tall, first, count, exact, y };
}

/** How far to scroll for a row to be the first one that is seen. */
function topOf(index, total, rowHeight, height) {
  if (total * rowHeight <= TALLEST) return index * rowHeight;
  return (index / Math.max(1, total - height / rowHeight)) * (TALLEST - height);
}

/**
 * Rows that are there already, a few hundred at most. Columns as those of VirtualTable; `width` does not count. `tight`: a row
 * is a line; the column with `grow` is cut where there is no room, and what is bad in that with `line` has a line of its own
 * on a phone. `cards`: on a phone each row is a card with a line a column.
 */
export function Table({ label, columns, rows, rowKey, href, empty = null, tight = false, cards = false }) {
  const isNarrow = useNarrow();
  const shown = isNarrow ? columns.filter((column) => column.narrow !== false) : columns;
  const frame = useRef(null);
  const focus = useFocusKept(frame, !rows.length);
  if (!rows.length) return empty;
  const open = (event, row) => {
    if (event.target.closest('a, button, input, select') || String(getSelection())) return;
    if (href(row)) go(href(row));
  };
  return html`<div class=${cx('table-frame', tight && 'tight', cards && 'cards')} tabindex="0" role="group" aria-label=${label} ref=${frame} ...${focus}><table aria-label=${label}>
    <thead><tr>${shown.map((column) => html`<th scope="col" class=${cellClass(column)} title=${column.help}>${column.title}</th>`)}</tr></thead>
    <tbody>${rows.map((row, index) => html`<tr key=${rowKey ? rowKey(row) : index} class=${href ? 'opens' : ''} onClick=${href ? (event) => open(event, row) : undefined}>
      ${shown.map((column, number) => html`<td class=${cellClass(column)} data-title=${cards && typeof column.title === 'string' ? column.title : undefined}>${number === 0 && href?.(row)
        ? html`<a href=${href(row)}>${cell(column, row, index)}</a>` : cell(column, row, index)}</td>`)}
    </tr>`)}</tbody>
  </table></div>`;
}
