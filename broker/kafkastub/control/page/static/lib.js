// What every module needs of the vendored libraries.
import { h, render, Fragment, createContext } from './vendor/preact.js';
import htm from './vendor/htm.js';

export { render, Fragment, createContext };
export {
  useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useId, useErrorBoundary,
} from './vendor/hooks.js';
export const html = htm.bind(h);

/** Class names, those that are something. */
export const cx = (...names) => names.filter(Boolean).join(' ');
