// What has changed: one stream for the whole page, of the subjects that are shown. A page that nobody sees has none.
import { address, onReading } from './api.js';
import { useEffect, useState } from './lib.js';

const POLL_MS = 5000; // where the broker gives no stream
const AGAIN = 6; // of these, and a stream is asked for once more
const LAST_WORDS_MS = 300; // what an old stream has sent may arrive after the new one has opened
const WAIT_MS = 2000; // that a question waits at most for the stream that tells when its answer has become old
const listeners = new Set(); // {subjects, changed}
const watchers = new Set(); // of the state
let source = null; // the stream that tells
let covered = new Set(); // the subjects it tells of
let waiting = []; // called once it tells of all that are wanted
let isLate = false; // something was asked before
let coming = null; // the stream that is to take its place
let opened = ''; // the subjects of the stream that was asked for last
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

/** Once there is a stream of all that is listened to: what changes after it was asked for is told then. */
async function streamed() {
  await null; // those who listen from this moment on have said so
  if (document.hidden || state === 'polling' || state === 'lost' || isCovered()) return;
  await new Promise((done) => {
    waiting.push(done);
    setTimeout(() => {
      if (waiting.includes(done)) isLate = true;
      done();
    }, WAIT_MS);
  });
}

const wanted = () => new Set([...listeners].flatMap((each) => each.subjects));
const isCovered = () => [...wanted()].every((each) => covered.has(each));

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
  soon = setTimeout(open, 10); // a view that goes and the one that comes are one change
}

/** The old stream tells until the new one does: nothing that changes between them is missed. */
function open() {
  const subjects = document.hidden ? '' : [...wanted()].sort().join();
  if (subjects === opened && (source !== null || coming !== null || polling !== null || subjects === '')) return;
  opened = subjects;
  coming?.close();
  coming = null;
  if (subjects === '') {
    close();
    become('paused');
    return;
  }
  if (source === null && state !== 'lost') become('connecting');
  const next = new EventSource(address('/v1/events', { subjects }));
  coming = next;
  next.onopen = () => opens(next, new Set(subjects.split(',')));
  next.addEventListener('changed', (event) => tell(new Set(JSON.parse(event.data).subjects)));
  next.onerror = () => fails(next);
}

function opens(stream, subjects) {
  if (stream === coming) take(stream);
  if (stream !== source) return;
  covered = subjects;
  const wasAway = state === 'lost' || state === 'polling';
  become('live');
  if (wasAway || isLate) tell(null);
  if (!isCovered()) return; // another stream is to come
  isLate = false;
  letGo();
}

function letGo() {
  const done = waiting;
  waiting = [];
  for (const each of done) each();
}

function take(stream) {
  const before = source;
  if (before !== null) setTimeout(() => before.close(), LAST_WORDS_MS);
  source = stream;
  coming = null;
  clearInterval(polling);
  polling = null;
}

function fails(stream) {
  if (stream !== source && stream !== coming) return;
  if (stream.readyState === EventSource.CLOSED) { // refused: too many pages
    close();
    poll();
  } else {
    covered = new Set();
    become('lost');
    letGo();
  }
}

function poll() {
  become('polling');
  letGo();
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
  coming?.close();
  source?.close();
  coming = null;
  source = null;
  covered = new Set();
  clearInterval(polling);
  polling = null;
}

function tell(subjects) {
  for (const each of [...listeners]) {
    if (subjects === null || each.subjects.some((subject) => subjects.has(subject))) each.changed();
  }
}

onReading(streamed);
document.addEventListener('visibilitychange', () => {
  settle();
  if (!document.hidden) tell(null); // what happened meanwhile nobody has told
});
addEventListener('pagehide', close);
