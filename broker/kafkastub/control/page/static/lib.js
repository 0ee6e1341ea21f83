// What every module needs of the vendored libraries.
import { h, render, Fragment, createContext } from './vendor/preact.js';
import htm from './vendor/htm.js';
import { useState } from './vendor/hooks.js';

export { render, Fragment, createContext, useState };
export { useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useErrorBoundary } from './vendor/hooks.js';
export const html = htm.bind(h);

let ids = 0;
/** An id that nothing else in the page has. Preact's own repeat themselves once a component above was drawn again. */
export const useId = () => useState(() => `id-${ids += 1}`)[0];

/** Class names, those that are something. */
export const cx = (...names) => names.filter(Boolean).join(' ');
