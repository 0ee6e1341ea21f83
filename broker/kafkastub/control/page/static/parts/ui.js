// What views are made of. Everything that is shown is text: nothing here takes markup.
import { useStreamState } from '../events.js';
import { html, cx, useEffect, useId, useRef, useState } from '../lib.js';
import { useRefused } from './refused.js';

let isFirst = true; // nothing was shown before

/** A view: its heading, where it is, what can be done, and what it shows. */
export function Page({ title, documentTitle = title, crumbs = [], actions = null, note = null, children }) {
  const heading = useRef(null);
  useEffect(() => { document.title = `${documentTitle} – kafkastub`; }, [documentTitle]);
  useEffect(() => { // what had the focus went with the view before: the keyboard goes on from here
    if (!isFirst && document.activeElement === document.body) heading.current.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  return html`<div class="page">
    <div class="page-head">
      <div class="page-title">
        ${crumbs.length ? html`<nav class="crumbs" aria-label="Where this is">${crumbs.map((crumb) => html`
          <a href=${crumb.href}>${crumb.title}</a><span aria-hidden="true">/</span>`)}</nav>` : null}
        <h1 tabindex="-1" ref=${heading}>${title}</h1>
        ${note ? html`<p class="note">${note}</p>` : null}
      </div>
      ${actions ? html`<div class="actions">${actions}</div>` : null}
    </div>
    ${children}
  </div>`;
}

/** A part of a view with a heading of its own. */
export function Section({ title, actions = null, note = null, children, fill = false }) {
  const id = useId();
  return html`<section class=${cx('section', fill && 'fill')} aria-labelledby=${id}>
    <div class="section-head">
      <h2 id=${id} tabindex="-1">${title}</h2>
      ${note ? html`<span class="soft">${note}</span>` : null}
      ${actions ? html`<div class="actions">${actions}</div>` : null}
    </div>
    ${children}
  </section>`;
}

/** A word with a colour that says the same: good, warn, bad, info, quiet. */
export const Badge = ({ tone = 'quiet', title, children }) =>
  html`<span class=${`badge ${tone}`} title=${title}>${children}</span>`;

/** Nothing is there: what that means, and what to do next. */
export const Empty = ({ title, children }) => html`<div class="empty"><p class="empty-title">${title}</p>${
  children ? html`<div class="empty-text">${children}</div>` : null}</div>`;

/** What the broker has refused, in its own words. */
export function ErrorNote({ error, onRetry }) {
  if (!error) return null;
  return html`<div class="error-note" role="alert"><span>${error.message}</span>${
    error.code && !/PAGE|TOKEN/.test(error.code) ? html` <code>${error.code}</code>` : null}${
    onRetry ? html` <${Button} onClick=${onRetry}>Ask again<//>` : null}</div>`;
}

/** While the first answer is under way. It shows after a moment only, so that fast answers do not flicker. */
export const Loading = () => html`<div class="loading" role="status"><span>Loading …</span></div>`;

/** Data of useData, or why there is none: `children` is a function of it. */
export function Loaded({ of, children }) {
  if (of.data !== null) return html`<${ErrorNote} error=${of.error} />${children(of.data)}`;
  if (of.error) return html`<${ErrorNote} error=${of.error} onRetry=${of.reload} />`;
  return html`<${Loading} />`;
}

/**
 * A button; while what it does is under way, or `changes` a broker that is gone, it cannot be pressed. What goes wrong is told
 * as a toast. One that is busy is not `disabled`: that would take the focus from it.
 */
export function Button({ onClick, only, tone = '', disabled = false, label, title, pressed, type = 'button', changes = type === 'submit' || /primary|danger/.test(tone), children }) {
  const [busy, setBusy] = useState(false);
  const isLost = useStreamState() === 'lost';
  const refused = useRefused(only);
  const there = useRef(true);
  useEffect(() => () => { there.current = false; }, []);
  const press = async (event) => {
    if (!onClick || busy) return;
    setBusy(true);
    try {
      await onClick(event);
    } catch (error) {
      toast(error.message, 'bad');
    } finally {
      if (there.current) setBusy(false);
    }
  };
  return html`<button type=${type} class=${cx('button', tone)} disabled=${disabled || Boolean(refused) || (changes && isLost)} aria-label=${label}
    aria-disabled=${busy ? 'true' : undefined} aria-busy=${busy ? 'true' : undefined} aria-pressed=${pressed} title=${refused ?? title}
    onClick=${onClick ? press : undefined}>${children}</button>`;
}

/** A link that looks like a button. */
export const LinkButton = ({ href, tone = '', children }) => html`<a class=${cx('button', tone)} href=${href}>${children}</a>`;

/** Views beside each other: items {id, title, href, count}. */
export const Tabs = ({ items, current, label = 'Parts' }) => html`<nav class="tabs" aria-label=${label}>${items.map((item) => html`
  <a href=${item.href} aria-current=${item.id === current ? 'page' : undefined}>${item.title}${
    item.count === undefined ? null : html` <span class="count">${number(item.count)}</span>`}</a>`)}</nav>`;

/** Names with values, two columns: items [name, value], null left out. */
export const KeyValues = ({ items }) => html`<dl class="key-values">${items.filter(Boolean).map(([name, value]) => html`
  <div><dt>${name}</dt><dd>${value ?? html`<span class="faint">–</span>`}</dd></div>`)}</dl>`;

/** A few figures that are seen at a glance: items {title, value, note, href, tone}. */
export const Figures = ({ items }) => html`<ul class="figures">${items.filter(Boolean).map((item) => {
  const inside = html`<span class="figure-title">${item.title}</span><span class=${cx('figure-value', item.tone)}>${
    item.value}</span>${item.note ? html`<span class="figure-note">${item.note}</span>` : null}`;
  return html`<li>${item.href ? html`<a class="figure" href=${item.href}>${inside}</a>` : html`<div class="figure">${inside}</div>`}</li>`;
})}</ul>`;

/** `12,345`. */
export const number = (value) => (typeof value === 'number' ? value.toLocaleString('en-US') : String(value ?? '–'));

/** `1.2 MB`: powers of 1000, as disks are sold. */
export function bytesText(size) {
  if (typeof size !== 'number' || size < 0) return '–';
  if (size < 1000) return `${size} B`;
  for (const unit of ['kB', 'MB', 'GB', 'TB']) {
    size /= 1000;
    if (size < 999.5) return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
  }
  return `${Math.round(size)} PB`;
}

/** Browsers keep the clipboard from pages of other machines that come without TLS; the old way still works there. */
async function toClipboard(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

/** Text that is copied by a click. */
export function Copy({ text, label = 'Copy', name = `${label}: ${text}` }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await toClipboard(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<${Button} tone="small" onClick=${copy} label=${name}>${done ? 'Copied' : label}<//>`;
}

export const Code = ({ children }) => html`<pre class="code" tabindex="0">${children}</pre>`;

/** A name of somebody's choice: shown as it is, characters that nobody sees made visible. */
export const Name = ({ children }) => html`<span class="name">${visible([children].flat().join(''))}</span>`;

/** Control characters and marks that turn the direction of text, as symbols or code points. */
export const visible = (text) => text.replace(
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  (sign) => (sign < ' ' ? String.fromCharCode(0x2400 + sign.charCodeAt(0)) : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`),
);

/** A share of a whole as a bar; `text` says the same. */
export const Bar = ({ value, most, tone = 'info', text }) => html`<span class="bar" title=${text}><span class=${`bar-fill ${tone}`}
  style=${{ width: `${most > 0 ? Math.min(100, (100 * value) / most) : 0}%` }}></span></span>`;

// -- what lies above the page ------------------------------------------------------------------------------------------

/** A dialog. Escape, a click beside it and `onClose` end it; the keyboard stays inside. */
export function Dialog({ title, onClose, children, wide = false }) {
  const dialog = useRef(null);
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown.showModal();
    return () => {
      shown.close();
      before?.focus?.();
    };
  }, []);
  const outside = (event) => { if (event.target === dialog.current) onClose(); };
  return html`<dialog ref=${dialog} class=${cx('dialog', wide && 'wide')} aria-labelledby=${id}
    onCancel=${(event) => { event.preventDefault(); onClose(); }} onMouseDown=${outside}>
    <div class="dialog-body">
      <div class="dialog-head"><h2 id=${id}>${title}</h2><${Button} tone="plain" label="Close" onClick=${onClose}>✕<//></div>
      ${children}
    </div>
  </dialog>`;
}

let showing = null;
/** Say something for a while: what was done, or what went wrong; `action` {label, act} is offered with it. */
export function toast(text, tone = 'good', action = null) { showing?.(text, tone, action); }

let asking = null;
/** Ask whether it is meant: `await confirm({title, text, yes})`. */
export const confirm = (question) => new Promise((answered) => { asking?.({ ...question, answered }); });

/** Where toasts and questions are shown; once in the page. */
export function Above() {
  const [toasts, setToasts] = useState([]);
  const [question, setQuestion] = useState(null);
  useEffect(() => {
    let last = 0;
    showing = (text, tone, action) => {
      last += 1;
      const one = { id: last, text, tone, action };
      setToasts((all) => [...all.slice(-3), one]);
      setTimeout(() => setToasts((all) => all.filter((each) => each !== one)), tone === 'bad' || action ? 10_000 : 8000);
    };
    asking = setQuestion;
  }, []);
  const answer = (yes) => {
    question.answered(yes);
    setQuestion(null);
  };
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.map((each) => html`
      <div key=${each.id} class=${`toast ${each.tone}`}>${each.text}${each.action ? html` <${Button} tone="small" onClick=${each.action.act}>${each.action.label}<//>` : null}</div>`)}</div>
    ${question ? html`<${Dialog} title=${question.title} onClose=${() => answer(false)}>
      ${question.text ? html`<div class="stack">${question.text}</div>` : null}
      <div class="dialog-foot"><${Button} onClick=${() => answer(false)}>Cancel<//><${Button} tone=${question.tone ?? 'primary'}
        onClick=${() => answer(true)}>${question.yes ?? 'Yes'}<//></div><//>` : null}`;
}
