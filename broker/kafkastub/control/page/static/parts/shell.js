// The frame around every view: the bar with the clock, the navigation, the keyboard.
import { get, onTokenWanted, post, token } from '../api.js';
import { useStreamState } from '../events.js';
import { createContext, html, cx, useContext, useEffect, useLayoutEffect, useState } from '../lib.js';
import { go, href } from '../router.js';
import { sections, views } from '../views/index.js';
import { useData } from './data.js';
import { Form, Input } from './forms.js';
import { Refused } from './refused.js';
import { WithClock, fromNow, iso, momentText, useClock, useTick } from './time.js';
import { Above, Button, Copy, Dialog, Name, confirm, number, toast } from './ui.js';

const Summary = createContext(null);
const SUMMARY = {
  subjects: ['topics', 'groups', 'share-groups', 'streams-groups', 'transactions', 'nodes', 'faults', 'snapshots', 'clock', 'chaos', 'metrics'],
  quiet: true,
  least: 1000,
};

/** What there is, in figures, as useData has it: asked for once, for the navigation and the views. */
export const useSummary = () => useContext(Summary);

export function Shell({ current, children }) {
  const summary = useData('/v1/summary', {}, SUMMARY);
  const [menu, setMenu] = useState(false);
  useEffect(() => setMenu(false), [current, location.hash]);
  useLayoutEffect(() => (menu ? closedByEscape(() => setMenu(false)) : undefined), [menu]);
  const [keys, setKeys] = useState(false);
  useKeys(() => setKeys(true));
  const refused = summary.data?.refused ?? {};
  return html`<${Summary.Provider} value=${summary}><${Refused.Provider} value=${refused}><${WithClock}>
    <a class="skip" href="#content" onClick=${(event) => { event.preventDefault(); document.querySelector('#content').focus(); }}>To the content</a>
    <header class="top">
      <button type="button" class="button plain menu-button" aria-expanded=${String(menu)} aria-controls="navigation" onClick=${() => setMenu(!menu)}>Menu</button>
      <a class="brand" href=${href('overview')}>kafkastub</a>
      ${summary.data ? html`<span class="address"><code title="bootstrap.servers for Kafka clients">${summary.data.bootstrap_servers}</code>
        <${Copy} text=${summary.data.bootstrap_servers} /></span>` : null}
      <span class="spring"></span>
      <${Stream} />
      <${Clock} />
      <${Theme} />
    </header>
    <div class="frame">
      <nav id="navigation" class=${cx('side', menu && 'open')} aria-label="Views">
        ${sections.map((section) => section.views.every((view) => refused[view.id]) ? null : html`<div class="side-section">
          ${section.title ? html`<h2>${section.title}</h2>` : null}
          <ul>${section.views.filter((view) => !refused[view.id]).map((view) => html`<li><a href=${href(view.id)} aria-current=${view.id === current ? 'page' : undefined}>
            <span>${view.title}</span>${badge(view, summary.data)}</a></li>`)}</ul>
        </div>`)}
        <p class="side-foot"><${Button} tone="plain small" onClick=${() => setKeys(true)}>Keys <kbd>?</kbd><//>${
          summary.data ? html`<span class="faint">${summary.data.version}</span>` : null}</p>
      </nav>
      <main id="content" tabindex="-1" data-view=${current} data-ready="false"><${Gone} />${children}</main>
    </div>
    ${keys ? html`<${Keys} onClose=${() => setKeys(false)} />` : null}
    <${Above} /><${TokenDialog} />
  <//><//><//>`;
}

/** Escape ends it, and leads the focus back to what it was opened with. */
function closedByEscape(close) {
  const press = (event) => {
    if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
    event.stopPropagation(); // what is open below stays
    close();
    document.querySelector('.menu-button').focus();
  };
  addEventListener('keydown', press, true);
  return () => removeEventListener('keydown', press, true);
}

function badge(view, summary) {
  const count = summary && view.count?.(summary);
  if (count === undefined || count === null) return null;
  return html`<span class=${cx('count', view.tone?.(summary))}>${number(count)}</span>`;
}

const STREAM = {
  live: ['Live', 'good', 'What is shown is kept up to date'],
  connecting: ['Connecting', 'quiet', 'Connecting to the broker'],
  polling: ['Every 5 s', 'warn', 'Too many pages are open for a live one: this one asks every five seconds'],
  paused: ['Paused', 'quiet', 'Nobody sees this page'],
  lost: ['Disconnected', 'bad', 'The broker does not answer; it is tried again'],
};

function Stream() {
  const [text, tone, title] = STREAM[useStreamState()];
  return html`<span class=${`stream ${tone}`} role="status" title=${title}><span class="dot" aria-hidden="true"></span><span class="stream-text">${text}</span></span>`;
}

/** Above every view: what it shows is not how it is. */
function Gone() {
  if (useStreamState() !== 'lost') return null;
  return html`<p class="gone" role="alert">The broker does not answer: has it been stopped? What is shown is as it was; it is asked again and again.</p>`;
}

/** Broker time, always in sight: it explains most of what a stub does. */
function Clock() {
  const clock = useClock();
  useTick(clock.known && !clock.frozen && !clock.lost, 1000);
  if (!clock.known) return html`<span class="clock"></span>`;
  const turn = async () => {
    await post(`/v1/clock/${clock.frozen ? 'unfreeze' : 'freeze'}`);
    await clock.reload();
  };
  const advance = async (by) => {
    if (!await expected(by)) return;
    const { now } = await post('/v1/clock/advance', { by });
    await clock.reload();
    toast(`Broker time is ${by === '1h' ? 'an hour' : 'a day'} further: it is ${momentText(Date.parse(now))}`);
  };
  const now = clock.now();
  return html`<div class=${cx('clock', clock.frozen && 'frozen')} role="group" aria-label="Broker time">
    <a href=${href('clock')} class="clock-time" title=${`Broker time, ${iso(now)}${clock.frozen ? ', frozen' : ''}`}><time datetime=${iso(now)}>${momentText(now)}</time></a>
    <span class="clock-zone soft">UTC</span>
    ${clock.frozen ? html`<span class="badge info">Frozen</span>` : null}
    <span class="clock-buttons">
      <${Button} changes tone="small" onClick=${turn} title=${clock.frozen ? 'Let broker time go on' : 'Let broker time stand still'}>${clock.frozen ? 'Unfreeze' : 'Freeze'}<//>
      <${Button} changes tone="small" onClick=${() => advance('1h')} label="Advance by 1 hour">+1 h<//>
      <${Button} changes tone="small" onClick=${() => advance('1d')} label="Advance by 1 day">+1 d<//>
    </span>
  </div>`;
}

const MOST_FORESEEN = 6;

/** Whether it is meant: what would be gone then is shown before it is. */
async function expected(by) {
  const { due, total, now_ms: now } = await get('/v1/clock/forecast', { within: by, limit: MOST_FORESEEN });
  if (!total) return true;
  return confirm({
    title: `Advance by ${by === '1h' ? 'an hour' : 'a day'}?`,
    text: html`<span>What goes by then:</span><ul class="list card">${due.map((each) => html`<li><span class="list-item"><span class="list-when num">${
      fromNow(each.at_ms, now)}</span><span class="list-text"><${Name}>${each.what}<//><span class="list-why">${each.why}</span></span></span></li>`)}${
      total > due.length ? html`<li class="list-more faint">and ${number(total - due.length)} more</li>` : null}</ul>`,
    yes: 'Advance',
  });
}

const THEMES = { system: 'Auto', light: 'Light', dark: 'Dark' };

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? 'system');
  const next = { system: 'light', light: 'dark', dark: 'system' }[theme];
  const turn = () => {
    setTheme(next);
    if (next === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      if (next === 'system') localStorage.removeItem('kafkastub-theme');
      else localStorage.setItem('kafkastub-theme', next);
    } catch { /* it is forgotten */ }
  };
  return html`<${Button} tone="plain small theme-button" onClick=${turn} label=${`Theme: ${THEMES[theme]}. Change to ${THEMES[next]}`}
    title="As the system has it, light, dark">Theme: ${THEMES[theme].toLowerCase()}<//>`;
}

// -- the keyboard ------------------------------------------------------------------------------------------------------

/** `g` and a letter go to a view, `/` to the search, `?` shows all. */
function useKeys(help) {
  useEffect(() => {
    let began = -1e9;
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog')) return;
      if (event.key === '/') {
        const search = document.querySelector('[data-search]');
        if (search) {
          event.preventDefault();
          search.focus();
        }
      } else if (event.key === 'Escape') {
        document.querySelector('.detail [aria-label="Close"]')?.click();
      } else if (event.key === '?') {
        help();
      } else if (event.timeStamp - began < 1500) {
        const view = views.find((each) => each.key === event.key);
        if (view) {
          event.preventDefault();
          document.querySelector('main h1')?.focus({ preventScroll: true }); // it goes, and the next one's has the focus
          go(href(view.id));
        }
      } else if (event.key === 'g') {
        began = event.timeStamp;
        return;
      }
      began = -1e9;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const Keys = ({ onClose }) => html`<${Dialog} title="Keys" onClose=${onClose}>
  <table class="keys"><tbody>
    <tr><td><kbd>/</kbd></td><td>Search in the view</td></tr>
    <tr><td><kbd>↑</kbd> <kbd>↓</kbd> <kbd>Page ↑</kbd> <kbd>Page ↓</kbd> <kbd>Home</kbd> <kbd>End</kbd></td><td>Move in a list, once it has the focus</td></tr>
    <tr><td><kbd>Enter</kbd> <kbd>Esc</kbd></td><td>Open the row, close it</td></tr>
    ${views.map((view) => html`<tr><td><kbd>g</kbd> <kbd>${view.key}</kbd></td><td>${view.title}</td></tr>`)}
  </tbody></table><//>`;

// -- the token ---------------------------------------------------------------------------------------------------------

function TokenDialog() {
  const [asked, setAsked] = useState(null);
  const [value, setValue] = useState('');
  useEffect(() => onTokenWanted((why) => new Promise((answered) => {
    setAsked((old) => {
      old?.answered(null);
      return { why, answered };
    });
  })), []);
  if (!asked) return null;
  const answer = (given) => {
    asked.answered(given);
    setAsked(null);
    setValue('');
  };
  return html`<${Dialog} title="Token" onClose=${() => answer(null)}>
    <${Form} onSubmit=${() => answer(value)}>
      <p>${token() ? asked.why : 'Changes need the token that this broker was started with (--control-token). It is kept until this tab is closed.'}</p>
      <${Input} label="Token" type="password" value=${value} onValue=${setValue} />
      <div class="dialog-foot"><${Button} onClick=${() => answer(null)}>Cancel<//><${Button} tone="primary" type="submit" disabled=${!value}>Go on<//></div>
    <//><//>`;
}
