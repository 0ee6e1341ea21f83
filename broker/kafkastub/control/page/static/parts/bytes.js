// Bytes: out of what the control port tells, and as people read them.
import { useEffect, useRef, useState } from '../lib.js';

/** The bytes of what the control port tells: a text, {base64} or null. */
export function bytesOf(told) {
  if (told === null || told === undefined) return new Uint8Array();
  if (typeof told === 'string') return new TextEncoder().encode(told);
  return Uint8Array.from(atob(told.base64), (sign) => sign.charCodeAt(0));
}

/** 10 as `0a`. */
export const hex = (byte) => byte.toString(16).padStart(2, '0');

/** All of them; `between` two of them stands something. */
export const hexText = (bytes, between = '') => Array.from(bytes, hex).join(between);

/** A byte as ASCII, a dot for what has no sign there. */
export const ascii = (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·');

/** [ref, how many bytes a line shows]: 16 where the element of `ref` is `least` pixels wide, 8 where it is not. */
export function useWide(least) {
  const box = useRef(null);
  const [wide, setWide] = useState(8);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWide(box.current.clientWidth >= least ? 16 : 8));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, wide];
}
