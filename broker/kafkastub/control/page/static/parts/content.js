// What is in a record, a message, a header: text, JSON or bytes, as text and never as markup.
import { html, useMemo, useState } from '../lib.js';
import { ascii, bytesOf, hexText, useWide } from './bytes.js';
import { Choice } from './forms.js';
import { Copy, bytesText, visible } from './ui.js';

const MOST_PAINTED = 60_000; // characters of JSON that are coloured
const DEEPEST = 60; // levels of JSON that are indented
const MOST_HEX = 8192; // bytes that are shown as such
const TOKENS = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A text in which what was looked for is marked. */
function marked(text, sought) {
  const wanted = visible(sought);
  const shown = visible(text);
  if (!wanted || !shown.includes(wanted)) return shown;
  return shown.split(wanted).flatMap((part, index) => (index ? [html`<mark>${wanted}</mark>`, part] : [part]));
}

/** A line that stands for it in a list; `sought` is marked in it. */
export function preview(told, size = null, sought = '') {
  if (told === null) return html`<span class="faint">null</span>`;
  if (typeof told !== 'string') {
    const bytes = bytesOf(told).subarray(0, 24);
    return html`<span class="badge quiet">bytes</span> <span class="mono">${hexText(bytes, ' ')}${bytes.length < (size ?? 0) ? ' …' : ''}</span>`;
  }
  if (told === '') return html`<span class="faint">empty</span>`;
  return html`<span class="mono">${marked(told.slice(0, 400).replace(/\s+/g, ' '), sought)}</span>`;
}

/** Offsets, bytes, and what of them is ASCII; 16 bytes a line, or 8. */
function hexDump(bytes, wide = 16) {
  const lines = [];
  for (let at = 0; at < Math.min(bytes.length, MOST_HEX); at += wide) {
    const part = bytes.subarray(at, Math.min(at + wide, MOST_HEX));
    const left = hexText(part.subarray(0, 8), ' ').padEnd(23);
    const right = wide === 8 ? '' : `  ${hexText(part.subarray(8), ' ').padEnd(23)}`;
    const text = Array.from(part, ascii).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${left}${right}  ${text}`);
  }
  if (bytes.length > MOST_HEX) lines.push(`… ${bytes.length - MOST_HEX} more bytes`);
  return lines.join('\n');
}

const WIDE = 580; // pixels that 16 bytes a line take

/** Lines as long as there is room for. */
function Dump({ bytes }) {
  const [box, wide] = useWide(WIDE);
  return html`<pre class="code hex" tabindex="0" ref=${box}>${bytes.length ? hexDump(bytes, wide) : 'no bytes'}</pre>`;
}

function parsed(text) {
  if (!/^\s*[[{"\d-]|^\s*(true|false|null)\s*$/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON with its parts in colour. */
export function Json({ value, text, sought = '' }) {
  const shown = useMemo(() => text ?? JSON.stringify(value, null, 2), [value, text]);
  const parts = useMemo(() => painted(shown, sought), [shown, sought]);
  return html`<pre class="code" tabindex="0">${parts}</pre>`;
}

function painted(text, sought) {
  if (text.length > MOST_PAINTED) return marked(text, sought);
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    const kind = match[1] ? (match[2] ? 'json-name' : 'json-text') : match[3] ? 'json-word' : 'json-number';
    parts.push(html`<span class=${kind}>${marked(match[1] ?? match[0], sought)}</span>`);
    if (match[2]) parts.push(match[2]);
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

/** What a schema makes of a key or a value, in one line of so many characters. */
export const toldText = ({ content }, most) => (typeof content === 'string' ? content : JSON.stringify(content)).slice(0, most);

/** What a schema makes of a key or a value; or why it is not shown. */
export function Told({ told }) {
  return told.error === null ? html`<${Json} value=${told.content} />` : html`<p class="hint warn">${visible(told.error)}</p>`;
}

/**
 * Numbers as they were written: a parsed one may have lost digits. So JSON is indented as text. What is deeper than anybody
 * writes is null: it would be mostly blanks.
 */
function indented(text) {
  const parts = [];
  let depth = 0;
  let opened = false; // whether the last token opened something
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      if (!opened) parts.push('\n', '  '.repeat(Math.max(0, depth)));
      parts.push(token);
      opened = false;
      continue;
    }
    if (opened) parts.push('\n', '  '.repeat(depth));
    opened = token === '{' || token === '[';
    parts.push(token);
    if (opened) depth += 1;
    else if (token === ',') parts.push('\n', '  '.repeat(depth));
    else if (token === ':') parts.push(' ');
    if (depth > DEEPEST) return null;
  }
  return parts.join('');
}

/**
 * Some bytes with a choice of how they are shown. told: as the control port tells them; size: how many there are in all,
 * where `told` is only their beginning. more: other ways, [{id, title, body}]; prefer: the one that is shown at first.
 * sought: a text that is marked.
 */
export function Content({ title, told, size = null, more = [], prefer = null, actions = null, sought = '' }) {
  const text = typeof told === 'string' ? told : null;
  const bytes = useMemo(() => bytesOf(told), [told]);
  const json = useMemo(() => (text !== null && parsed(text) !== undefined ? indented(text) : null), [text]);
  const [chosen, setChosen] = useState(null);
  const ways = [json !== null && ['json', 'JSON'], text !== null && ['text', 'Text'], ['hex', 'Hex'], ...more.map((each) => [each.id, each.title])].filter(Boolean);
  const first = prefer ?? (json !== null && !/^[[{]/.test(json) ? 'text' : ways[0][0]); // a number is text until somebody says otherwise
  const way = ways.some(([id]) => id === chosen) ? chosen : first;
  const cut = size !== null && size > bytes.length;
  return html`<div class="stack content">
    <div class="section-head"><h3>${title}</h3>
      <span class="faint">${told === null ? 'null' : bytesText(size ?? bytes.length)}${cut ? `, the first ${bytesText(bytes.length)} are shown` : ''}</span>
      <div class="actions">${told === null ? null : html`<${Choice} label=${`How ${title.toLowerCase()} is shown`} value=${way} options=${ways} onValue=${setChosen} />`}
        ${bytes.length && !cut && (way === 'hex' || text !== null) ? html`<${Copy} text=${way === 'hex' ? hexText(bytes) : text} name=${`Copy the ${title.toLowerCase()}`} />` : null}${actions}</div></div>
    ${told === null ? html`<p class="faint">There is none: it is null.</p>`
      : way === 'json' ? html`<${Json} text=${json} sought=${sought} />`
        : way === 'text' ? html`<pre class="code" tabindex="0">${text === '' ? html`<span class="faint">It has no bytes.</span>` : marked(text, sought)}</pre>`
          : way === 'hex' ? html`<${Dump} bytes=${bytes} />`
            : more.find((each) => each.id === way).body}
  </div>`;
}
