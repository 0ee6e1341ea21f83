// What the control port knows, as state of a component: asked when it is first shown, and again when it has changed.
import { get } from '../api.js';
import { listen } from '../events.js';
import { useCallback, useEffect, useRef, useState } from '../lib.js';
import { useWaiting } from './ready.js';

const LEAST_MS = 400; // between two questions for the same, so that a busy broker is not kept busy by us

/** When what was asked for at `begun` and is there now may be asked for anew: a tenth of the time is spent on it. */
export function restedAt(begun, least = 0) {
  const now = performance.now();
  return now + Math.max(least, 9 * (now - begun));
}

/**
 * `work` soon, but not more often than every `least` milliseconds, and never twice at the same time: how a page that is
 * behind stays behind by one question and no more. Where answers take long, they are asked for less often.
 */
function paced(work, least = LEAST_MS) {
  let running = false;
  let wanted = false;
  let ended = false;
  let rested = 0;
  let timer = null;
  const run = async () => {
    timer = null;
    running = true;
    wanted = false;
    const begun = performance.now();
    try {
      await work();
    } finally {
      rested = restedAt(begun, least);
      running = false;
      if (wanted && !ended) wait(rested - performance.now());
    }
  };
  const wait = (ms) => { timer ??= setTimeout(run, ms); };
  return {
    soon() {
      wanted = true;
      if (!running && !ended) wait(Math.max(0, rested - performance.now()));
    },
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** A counter that goes up when one of the subjects has changed, but not more often than every `least` milliseconds. */
export function useVersion(subjects, least = LEAST_MS) {
  const [version, setVersion] = useState(0);
  const key = subjects.join();
  useEffect(() => {
    const pace = paced(async () => setVersion((one) => one + 1), least);
    const stop = listen(subjects, pace.soon);
    return () => {
      stop();
      pace.end();
    };
  }, [key]);
  return version;
}

/**
 * What GET `path` says: {data, error, reload}. It is asked again when one of `subjects` has changed. The last
 * answer stays until the next one is there; with another path there is none at first. A path of null asks nothing. With
 * `quiet`, the view is ready without it. It is not asked again sooner than `least` milliseconds later.
 */
export function useData(path, params = {}, { subjects = [], quiet = false, least = LEAST_MS } = {}) {
  const key = path === null ? null : JSON.stringify([path, params]);
  const [answer, setAnswer] = useState({ key: null, data: null, error: null });
  const reloading = useRef(() => {});
  useEffect(() => {
    if (path === null) return undefined;
    const aborting = new AbortController();
    const load = async () => {
      try {
        const data = await get(path, params, { signal: aborting.signal });
        if (!aborting.signal.aborted) setAnswer({ key, data, error: null });
      } catch (error) {
        if (error.name === 'AbortError' || aborting.signal.aborted) return;
        setAnswer((old) => ({ key, data: old.key === key && error.status === 0 ? old.data : null, error }));
      }
    };
    const pace = paced(load, least);
    reloading.current = load;
    load();
    const stop = subjects.length ? listen(subjects, pace.soon) : () => {};
    return () => {
      stop();
      pace.end();
      aborting.abort();
    };
  }, [key, subjects.join()]);
  const reload = useCallback(() => reloading.current(), []);
  const mine = answer.key === key;
  useWaiting(!quiet && key !== null && !mine);
  return {
    data: mine ? answer.data : null,
    error: mine ? answer.error : null,
    reload,
  };
}
