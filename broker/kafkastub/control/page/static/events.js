// What has changed: one stream for the whole page, of the subjects that are shown. A page that nobody sees has none.
import { address } from './api.js';
import { useEffect, useState } from './lib.js';

const POLL_MS = 5000; // where the broker gives no stream
const AGAIN = 6; // of these, and a stream is asked for once more
const listeners = new Set(); // {subjects, changed}
const watchers = new Set(); // of the state
let source = null;
let opened = ''; // the subjects of the stream that is open
let polling = null;
let soon = null;
let state = 'paused';

/** Call `changed()` when one of the subjects may have. Gives the function that ends it. */
export function listen(subjects, changed) {
  const listener = { subjects, changed };
  listeners.add(listener);
  settle();
  return () => {
    listeners.delete(listener);
    settle();
  };
}

/** 'live', 'connecting', 'polling', 'paused' (nobody sees the page) or 'lost'. */
export function useStreamState() {
  const [shown, setShown] = useState(state);
  useEffect(() => {
    watchers.add(setShown);
    setShown(state);
    return () => watchers.delete(setShown);
  }, []);
  return shown;
}

function become(next) {
  if (state === next) return;
  state = next;
  for (const watcher of watchers) watcher(state);
}

function settle() {
  clearTimeout(soon);
  soon = setTimeout(open, 30); // a view that goes and the one that comes are one change
}

function open() {
  const subjects = document.hidden ? '' : [...new Set([...listeners].flatMap((each) => each.subjects))].sort().join();
  if (subjects === opened && (source !== null || polling !== null || subjects === '')) return;
  close();
  opened = subjects;
  if (subjects === '') {
    become('paused');
    return;
  }
  if (state !== 'lost') become('connecting');
  source = new EventSource(address('/v1/events', { subjects }));
  source.onopen = () => {
    const wasAway = state === 'lost' || state === 'polling';
    become('live');
    if (wasAway) tell(null);
  };
  source.addEventListener('changed', (event) => tell(new Set(JSON.parse(event.data).subjects)));
  source.onerror = () => {
    if (source?.readyState === EventSource.CLOSED) { // refused: too many pages
      source = null;
      poll();
    } else {
      become('lost');
    }
  };
}

function poll() {
  become('polling');
  let rounds = 0;
  polling = setInterval(() => {
    rounds += 1;
    tell(null);
    if (rounds === AGAIN) {
      opened = '';
      open();
    }
  }, POLL_MS);
}

function close() {
  source?.close();
  source = null;
  clearInterval(polling);
  polling = null;
}

function tell(subjects) {
  for (const each of [...listeners]) {
    if (subjects === null || each.subjects.some((subject) => subjects.has(subject))) each.changed();
  }
}

document.addEventListener('visibilitychange', () => {
  settle();
  if (!document.hidden) tell(null); // what happened meanwhile nobody has told
});
addEventListener('pagehide', close);
