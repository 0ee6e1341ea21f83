// What only a stub can do, where the page is that of a proxy in front of a cluster: why, by the name of the subject.
import { createContext, useContext } from '../lib.js';

export const Refused = createContext({});

/** Why it cannot be had here; undefined where it can. */
export const useRefused = (name) => useContext(Refused)[name];
