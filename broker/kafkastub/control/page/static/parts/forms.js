// Fields. A form is one object of values: `const form = useForm({name: ''})`, `<Input ...${form.field('name')} label="Name" />`.
import { html, cx, useEffect, useId, useRef, useState } from '../lib.js';

/** {values, set, field(name)} of a form. */
export function useForm(first) {
  const [values, setValues] = useState(first);
  const set = (changes) => setValues((old) => ({ ...old, ...changes }));
  const field = (name) => ({ value: values[name], onValue: (value) => set({ [name]: value }) });
  return { values, set, field, clear: () => setValues(first) };
}

/** A label above what is filled in, and a word of help below. `children` is a function of the field's id. */
function Field({ label, help, grow = false, hideLabel = false, children }) {
  const id = useId();
  return html`<div class=${cx('field', grow && 'grow')}>
    <label for=${id} class=${hideLabel ? 'unseen' : ''}>${label}</label>
    ${children(id)}
    ${help ? html`<span class="help" id=${`${id}-help`}>${help}</span>` : null}
  </div>`;
}

export const Input = ({ label, help, grow, hideLabel, value, onValue, type = 'text', ...rest }) => html`
  <${Field} label=${label} help=${help} grow=${grow} hideLabel=${hideLabel}>${(id) => html`<input id=${id} type=${type}
    value=${value} onInput=${(event) => onValue(event.target.value)} aria-describedby=${help ? `${id}-help` : undefined}
    autocomplete="off" spellcheck=${false} ...${rest} />`}<//>`;

export const TextArea = ({ label, help, grow, hideLabel, value, onValue, rows = 4, ...rest }) => html`
  <${Field} label=${label} help=${help} grow=${grow} hideLabel=${hideLabel}>${(id) => html`<textarea id=${id} rows=${rows}
    value=${value} onInput=${(event) => onValue(event.target.value)} aria-describedby=${help ? `${id}-help` : undefined}
    spellcheck=${false} ...${rest}></textarea>`}<//>`;

/** options: texts, or [value, title]. */
export const Select = ({ label, help, grow, hideLabel, value, onValue, options, ...rest }) => html`
  <${Field} label=${label} help=${help} grow=${grow} hideLabel=${hideLabel}>${(id) => html`<select id=${id}
    onChange=${(event) => onValue(event.target.value)} aria-describedby=${help ? `${id}-help` : undefined} ...${rest}>
    ${options.map((option) => {
      const [given, title] = Array.isArray(option) ? option : [option, option];
      return html`<option value=${given} selected=${String(given) === String(value)}>${title}</option>`;
    })}
  </select>`}<//>`;

export function Check({ label, value, onValue, ...rest }) {
  const id = useId();
  return html`<div class="check"><input id=${id} type="checkbox" checked=${value}
    onChange=${(event) => onValue(event.target.checked)} ...${rest} /><label for=${id}>${label}</label></div>`;
}

/** One of a few, beside each other: options [value, title]. */
export const Choice = ({ label, value, onValue, options }) => html`<div class="choice" role="group" aria-label=${label}>${
  options.map(([given, title]) => html`<button type="button" aria-pressed=${String(given === value)}
    onClick=${() => onValue(given)}>${title}</button>`)}</div>`;

/** A form; Enter sends it. `onSubmit` may be async. */
export const Form = ({ onSubmit, children, row = false, label }) => html`<form class=${row ? 'form-row' : 'form'} aria-label=${label}
  onSubmit=${(event) => { event.preventDefault(); onSubmit(); }}>${children}</form>`;

/** Filters above a list. */
export const Toolbar = ({ children, label = 'Filters' }) => html`<div class="toolbar" role="group" aria-label=${label}>${children}</div>`;

/** A field that tells what is in it once nobody has typed for `wait` milliseconds, and nothing once it is gone. */
export function Late({ value, onValue, wait = 350, ...rest }) {
  const [typed, setTyped] = useState(null);
  const timer = useRef(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setTyped(null);
      onValue(text);
    }, wait);
  };
  return html`<${Input} value=${typed ?? value ?? ''} onValue=${type} ...${rest} />`;
}

/** What is looked for; `/` on the keyboard goes there. */
export const Search = ({ label, placeholder = label, wait = 150, ...rest }) => html`<${Late} label=${label} hideLabel type="search"
  data-search=${true} placeholder=${placeholder} wait=${wait} grow ...${rest} />`;
