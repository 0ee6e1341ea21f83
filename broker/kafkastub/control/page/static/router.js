// Addresses: everything a view shows is in the part of the address after `#`, so that it can be sent to somebody.
import { useState, useEffect } from './lib.js';

/** The address of a place: names, then an object of parameters. `href('topics', 'a/b', {partition: 0})`. */
export function href(...parts) {
  const last = parts.at(-1);
  const query = last !== null && typeof last === 'object' ? parts.pop() : {};
  const path = parts.map((part) => encodeURIComponent(part)).join('/');
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  return `#/${path}${said.length ? `?${new URLSearchParams(said)}` : ''}`;
}

/** {path: names, decoded, query: parameters} of an address. */
function parse(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  return {
    path: path.split('/').filter((part) => part !== '').map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch { // somebody's own percent sign
    return part;
  }
}

/** Go to an address. */
export function go(address, { replace = false } = {}) {
  if (address === location.hash) return;
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Change parameters of this place; null takes one away. */
export function setQuery(changes, { replace = true } = {}) {
  const { path, query } = parse(location.hash);
  go(href(...path, { ...query, ...changes }), { replace });
}

/** The place that is shown; the component is drawn again when it changes. */
export function usePlace() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const look = () => setHash(location.hash);
    addEventListener('hashchange', look);
    look();
    return () => removeEventListener('hashchange', look);
  }, []);
  return parse(hash);
}
