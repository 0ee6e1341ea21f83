// Time as people read it: broker time in UTC, lengths of time, and the broker's clock as it goes on.
import { useData } from './data.js';
import { useStreamState } from '../events.js';
import { createContext, html, useContext, useEffect, useState } from '../lib.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LAST_MS = 253_402_300_799_999; // the end of the year 9999

const isMoment = (ms) => typeof ms === 'number' && ms >= 0 && ms <= LAST_MS;

/** ISO 8601 in UTC; empty for what no calendar has. */
export const iso = (ms) => (isMoment(ms) ? new Date(ms).toISOString() : '');

/** `2026-03-01 12:00:00`, with milliseconds if they are wanted. */
export function momentText(ms, { millis = false } = {}) {
  if (!isMoment(ms)) return String(ms);
  return new Date(ms).toISOString().replace('T', ' ').slice(0, millis ? 23 : 19);
}

/** What somebody writes, as ISO 8601 with a zone: UTC where none is said, the day's beginning where no time is. */
export function zoned(text) {
  if (/(Z|[+-]\d\d:?\d\d)$/i.test(text)) return text;
  return `${text.replace(' ', 'T')}${/\d\d:\d\d/.test(text) ? '' : 'T00:00'}Z`;
}

/** `12:00:00.000`. */
export const timeText = (ms) => (isMoment(ms) ? new Date(ms).toISOString().slice(11, 23) : String(ms));

/** `6 d 23 h`, `1 h 30 min`, `4.2 s`: the two largest units. */
export function spanText(ms) {
  const size = Math.abs(ms);
  if (size < 1000) return `${Math.round(size)} ms`;
  if (size < 10_000) return `${(size / 1000).toFixed(1)} s`;
  if (size < MINUTE) return `${Math.floor(size / 1000)} s`;
  if (size < HOUR) return two(size, MINUTE, 'min', 1000, 's');
  if (size < DAY) return two(size, HOUR, 'h', MINUTE, 'min');
  return two(size, DAY, 'd', HOUR, 'h');
}

function two(size, large, largeName, small, smallName) {
  const first = Math.floor(size / large);
  const second = Math.floor((size - first * large) / small);
  return second ? `${first} ${largeName} ${second} ${smallName}` : `${first} ${largeName}`;
}

/** `in 6 d 23 h`, `4.2 s ago`, `now`. */
export function fromNow(ms, now) {
  const away = ms - now;
  if (Math.abs(away) < 1000) return 'now';
  return away > 0 ? `in ${spanText(away)}` : `${spanText(away)} ago`;
}

const Shown = createContext(null);

/** The broker's clock: {now() in ms, frozen, known, lost, error, reload}; it stands where nobody answers any more. */
export const useClock = () => useContext(Shown);

/** It is asked for once, for all that is in here. */
export const WithClock = ({ children }) => html`<${Shown.Provider} value=${useAsked()}>${children}<//>`;

function useAsked() {
  const { data, error, reload } = useData('/v1/clock', {}, { subjects: ['clock'], quiet: true });
  const [at, setAt] = useState(null);
  useEffect(() => { if (data) setAt({ data, seen: performance.now() }); }, [data]);
  const lost = useStreamState() === 'lost';
  const [until, setUntil] = useState(null); // a broker that is gone has no time
  useEffect(() => setUntil(lost ? performance.now() : null), [lost]);
  const now = () => (at === null ? 0 : at.data.now_ms + (at.data.frozen ? 0 : (until ?? performance.now()) - at.seen));
  return { now, frozen: at?.data.frozen ?? false, known: at !== null, lost, error, reload };
}

/** Draw the component again every so often, while time goes on. */
export function useTick(going, every = 1000) {
  const [, setTick] = useState(0);
  useEffect(() => {
    if (!going) return undefined;
    const timer = setInterval(() => setTick((one) => one + 1), every);
    return () => clearInterval(timer);
  }, [going, every]);
}

/** A moment of broker time. `from` (ms) adds how far away it is. */
export function Moment({ ms, millis = false, from = null, empty = '–' }) {
  if (ms === null || ms === undefined || ms < 0) return html`<span class="faint">${empty}</span>`;
  return html`<time class="num" datetime=${iso(ms)} title=${iso(ms)}>${momentText(ms, { millis })}${
    from === null ? null : html` <span class="soft">${fromNow(ms, from)}</span>`}</time>`;
}

/** A length of time. */
export const Span = ({ ms }) => html`<span class="num" title=${`${ms} ms`}>${spanText(ms)}</span>`;
