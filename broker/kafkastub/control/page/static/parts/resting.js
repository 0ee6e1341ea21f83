// A list that is live rests while somebody is about to choose of it: no row moves away from under the pointer.
import { useState } from '../lib.js';

/** [whether the pointer or the focus is in an element, the handlers that it needs]. */
export function useResting() {
  const [pointer, setPointer] = useState(false);
  const [focus, setFocus] = useState(false);
  const handlers = {
    onPointerEnter: () => setPointer(true),
    onPointerLeave: () => setPointer(false),
    onFocusIn: () => setFocus(true),
    onFocusOut: (event) => setFocus(event.currentTarget.contains(event.relatedTarget)),
  };
  return [pointer || focus, handlers];
}

export const WHEN_LEFT = 'shown when the pointer and the focus leave the list';
