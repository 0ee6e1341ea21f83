// The fields of a frame as a tree: arrow keys move in it, as in any tree.
import { html, cx, useEffect, useId, useRef, useState } from '../../lib.js';
import { bytesOf, hexText } from '../../parts/bytes.js';
import { toldText } from '../../parts/content.js';
import { number, visible } from '../../parts/ui.js';

const OPEN_UP_TO = 60; // lines that are unfolded at first

/** fields: as the route has them. chosen: {start, end, path, from} or null; choose(span) takes another one. */
export function Fields({ label, fields, chosen, choose }) {
  const [folds, setFolds] = useState(() => new Map());
  const [at, setAt] = useState(0);
  const tree = useRef(null);
  const id = useId();
  const lines = [];
  unfold(fields, 0, '', lines, folds);
  const here = Math.min(at, lines.length - 1);
  const isChosen = (line) => chosen?.path === line.path;
  useEffect(() => { // a byte was chosen: show its field
    if (chosen?.from !== 'bytes') return;
    const open = new Map(folds);
    chosen.path.split('/').slice(1, -1).reduce((path, part) => {
      open.set(`${path}/${part}`, true);
      return `${path}/${part}`;
    }, '');
    setFolds(open);
  }, [chosen?.path]);
  useEffect(() => {
    if (chosen?.from === 'bytes') tree.current.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });
  const fold = (line, open) => setFolds(new Map(folds).set(line.path, open));
  const go = (index) => {
    const to = Math.max(0, Math.min(lines.length - 1, index));
    setAt(to);
    choose(span(lines[to]));
    requestAnimationFrame(() => tree.current?.querySelectorAll('[role="treeitem"]')[to]?.scrollIntoView({ block: 'nearest' }));
  };
  const keys = {
    ArrowDown: () => go(here + 1), ArrowUp: () => go(here - 1), Home: () => go(0), End: () => go(lines.length - 1),
    ArrowRight: () => (lines[here].has && !lines[here].open ? fold(lines[here], true) : go(here + 1)),
    ArrowLeft: () => (lines[here].has && lines[here].open ? fold(lines[here], false) : go(parent(lines, here))),
    Enter: () => lines[here].has && fold(lines[here], !lines[here].open),
  };
  const onKeyDown = (event) => {
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  return html`<div class="fields" role="tree" aria-label=${label} tabindex="0" ref=${tree} onKeyDown=${onKeyDown} aria-activedescendant=${lines.length ? `${id}${lines[here].path}` : undefined}>
    ${lines.map((line, index) => html`<div key=${line.path} id=${`${id}${line.path}`} role="treeitem" aria-level=${line.level + 1} aria-expanded=${line.has ? String(line.open) : undefined}
      aria-selected=${String(isChosen(line))} class=${cx('field-line', index === here && 'active')} style=${{ paddingLeft: `${4 + 12 * Math.min(line.level, 12)}px` }}
      title=${`${line.field.type}, bytes ${line.field.start} to ${Math.max(line.field.start, line.field.end - 1)}`}
      onClick=${() => {
        setAt(index);
        if (line.has) fold(line, !line.open);
        choose(span(line));
      }}>
      <span class="fold" aria-hidden="true">${line.has ? (line.open ? '▾' : '▸') : ''}</span><span class="field-name">${line.field.name}</span>
      <span class="field-value">${valueText(line.field)}</span></div>`)}
  </div>`;
}

/** The field at a path, `/0/2`. */
export const fieldAt = (fields, path) => path.split('/').slice(1).reduce((found, index) => (found.fields ?? [])[index] ?? found, { fields });

const span = ({ field, path }) => ({ start: field.start, end: field.end, path, from: 'fields' });

function unfold(fields, level, above, lines, folds) {
  fields.forEach((field, index) => {
    const path = `${above}/${index}`;
    const has = Boolean(field.fields?.length);
    const open = has && (folds.get(path) ?? (level < 2 || (lines.length < OPEN_UP_TO && level < 7)));
    lines.push({ field, level, path, has, open });
    if (open) unfold(field.fields, level + 1, path, lines, folds);
  });
}

function parent(lines, index) {
  for (let above = index - 1; above >= 0; above -= 1) if (lines[above].level < lines[index].level) return above;
  return 0;
}

/** A value as text: what is not a value of its own says what is in it. */
function valueText(field) {
  const more = field.left_out ? html` <span class="faint">and ${number(field.left_out)} more that are not told</span>` : null;
  if (field.fields !== undefined && field.fields !== null) {
    if (field.type === 'tagged fields' && !field.fields.length && !field.left_out) return html`<span class="faint">none</span>`;
    const count = field.type.includes('array of') || field.type.includes('records') ? field.fields.length + field.left_out : null;
    return html`<span class="faint">${count === null ? field.type : `${field.type}, ${number(count)}`}</span>${more}`;
  }
  const { value } = field;
  if (value === null || value === undefined) return html`<span class="faint">null</span>`;
  if (field.by_schema?.error === null) return html`<span class="field-text">${visible(toldText(field.by_schema, 200))}</span> <span class="faint">${visible(`${field.by_schema.subject} version ${field.by_schema.version}`)}</span>`;
  if (typeof value === 'object' && 'base64' in value) return html`<${Bytes} field=${field} />`;
  if (typeof value === 'string') return html`<span class="field-text">“${visible(value)}”</span>${field.size ? html` <span class="faint">… ${number(field.size)} characters</span>` : null}`;
  return html`<b class="num">${String(value)}</b>`;
}

function Bytes({ field }) {
  const raw = bytesOf(field.value);
  const size = field.size ?? raw.length;
  let text = null;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(raw.slice(0, 200));
  } catch { // no text
  }
  return html`<span class="field-text">${text === null ? hexText(raw.subarray(0, 24), ' ') : `“${visible(text)}”`}</span> <span class="faint">${number(size)} bytes${field.by_schema?.subject ? visible(`, ${field.by_schema.error}`) : ''}</span>`;
}
