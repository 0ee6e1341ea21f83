// Whether the view shows what it has been asked for: for those who wait for it, a screen reader and tests among them.
import { useLayoutEffect } from '../lib.js';

let waiting = 0;

function tell() {
  const main = document.querySelector('#content');
  if (!main) return;
  main.dataset.ready = String(waiting === 0);
  if (waiting) main.setAttribute('aria-busy', 'true');
  else main.removeAttribute('aria-busy');
}

/** While `is`, the view is not ready. */
export function useWaiting(is) {
  useLayoutEffect(() => {
    if (!is) {
      tell();
      return undefined;
    }
    waiting += 1;
    tell();
    return () => {
      waiting -= 1;
      queueMicrotask(tell); // what comes in its place may wait as well
    };
  }, [is]);
}
