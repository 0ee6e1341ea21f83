// The control port, asked. What it refuses is thrown as ApiError with its own sentence.

class ApiError extends Error {
  constructor(status, sentence, code = null) {
    super(sentence);
    this.status = status; // that of HTTP; 0 where nobody answered
    this.code = code;
  }
}

const TOKEN = 'kafkastub-token';
const base = new URL('./', location.href.split('#')[0]);
const WORD = 'meta[name="kafkastub-page"]';
let page = document.querySelector(WORD)?.content ?? '';
let askForToken = async () => null; // the shell's dialog

let held = null; // where the browser keeps nothing
/** The token that changes are sent with, null for none. */
export function token() {
  try {
    return sessionStorage.getItem(TOKEN) ?? held;
  } catch {
    return held;
  }
}
function setToken(value) {
  held = value;
  try {
    sessionStorage.setItem(TOKEN, value);
  } catch { /* it is kept until the page is loaded again */ }
}
/** `ask(why)` resolves to a token, or to null where somebody does not want to say it. */
export function onTokenWanted(ask) { askForToken = ask; }

/** A body that is JSON already: numbers in it may have more digits than JavaScript keeps. */
export class Raw {
  constructor(text) { this.text = text; }
}

let beforeReading = async () => {}; // for the stream that tells when what was read has become old
/** `wait()` resolves once what changes from then on will be told. */
export function onReading(wait) { beforeReading = wait; }

/** A token that came with the address is kept, and taken out of the address before anybody reads it. */
export function takeTokenFromAddress() {
  const match = /^#(?:\/?\?)?token=([^&]*)/.exec(location.hash);
  if (!match) return;
  history.replaceState(null, '', location.pathname);
  try {
    setToken(decodeURIComponent(match[1]));
  } catch { /* it is none */ }
}

/** The address of a route with its parameters; those that are null are left out. */
export function address(path, params = {}) {
  const url = new URL(path.replace(/^\//, ''), base);
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== '') url.searchParams.append(name, each);
    }
  }
  return url;
}

async function ask(method, path, { params, body, signal } = {}, again = true) {
  const response = await send(method, path, { params, body, signal });
  if (response.ok) return response;
  const problem = await refusal(response);
  if (again && problem.code === 'STALE_PAGE' && await renew()) return ask(method, path, { params, body, signal }, false);
  if (again && response.status === 401) {
    const given = await askForToken(problem.message);
    if (given) {
      setToken(given);
      return ask(method, path, { params, body, signal }, true);
    }
  }
  throw problem;
}

async function send(method, path, { params, body, signal }) {
  const headers = { Accept: 'application/json' };
  if (method !== 'GET') headers['X-Kafkastub-Page'] = page;
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const isFile = body instanceof Blob;
  if (body !== undefined && !isFile) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(address(path, params), {
      method, headers, signal, cache: 'no-store',
      body: body === undefined || isFile ? body : body instanceof Raw ? body.text : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The broker does not answer: has it been stopped?');
  }
}

async function refusal(response) {
  try {
    const told = await response.json();
    const sentence = told.error ?? told.missing?.join('; ');
    return new ApiError(response.status, sentence ?? `It answered ${response.status}`, told.code ?? null);
  } catch {
    return new ApiError(response.status, `It answered ${response.status} ${response.statusText}`);
  }
}

/** The broker was started anew: its page has another word. */
async function renew() {
  const response = await fetch(base, { headers: { Accept: 'text/html' }, cache: 'no-store' });
  const read = new DOMParser().parseFromString(await response.text(), 'text/html');
  const word = read.querySelector(WORD)?.content;
  const changed = Boolean(word) && word !== page;
  if (word) page = word;
  return changed;
}

export async function get(path, params, { signal } = {}) {
  await beforeReading();
  const response = await ask('GET', path, { params, signal });
  return params?.decoded ? withAllDigits(await response.text()) : response.json();
}

/** Records, with the digits that JavaScript does not keep where a schema made a number of them, in browsers that can. */
function withAllDigits(text) {
  const read = JSON.parse(text);
  if (!JSON.rawJSON || !/\d{16}/.test(text)) return read;
  const exact = JSON.parse(text, (_, value, { source } = {}) => (
    typeof value === 'number' && /^-?\d{16,}$/.test(source) ? JSON.rawJSON(source) : value));
  read.records.forEach((record, index) => {
    record.key_by_schema = exact.records[index].key_by_schema;
    record.value_by_schema = exact.records[index].value_by_schema;
  });
  return read;
}

export const getText = async (path, params) => (await ask('GET', path, { params })).text();
export const post = async (path, body, params) => (await ask('POST', path, { body, params })).json();
export const put = async (path, body, params) => (await ask('PUT', path, { body, params })).json();
export const del = async (path, params) => (await ask('DELETE', path, { params })).json();

/** Let the browser keep an answer as a file. */
export async function download(path, filename, params) {
  const blob = await (await ask('GET', path, { params })).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
