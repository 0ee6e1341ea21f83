import type { paths } from "./openapi.js";

type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Paths that can be asked with a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<Lowercase<M>, { responses: unknown }> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends keyof paths> = paths[P][Lowercase<M> & keyof paths[P]];
type Content<R> = R extends { content: { "application/json": infer Json } } ? Json : unknown;

/** The answer to a request, as JSON. */
export type AnswerTo<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { responses: infer R }
    ? R extends { 200: infer Ok }
      ? Content<Ok>
      : R extends { 201: infer Made }
        ? Content<Made>
        : unknown
    : unknown;
/** The parameters of a request, behind its `?`. */
export type QueryOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { parameters: { query?: infer Q } } ? Q : never;
/** The body of a request. */
export type BodyOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { requestBody?: infer B } ? Content<NonNullable<B>> : never;

/** What a request has beside its method and path. */
export interface Given<Q = unknown, B = unknown> {
  /** Values for the `{names}` of the path, in their order. */
  in?: readonly (string | number | bigint)[];
  query?: Q | undefined;
  body?: B;
  signal?: AbortSignal | undefined;
}

/** An answer that says no. A wait that was in vain has the status 408, and says what was last seen. */
export class Refused extends Error {
  override name = "Refused";

  constructor(
    /** Of HTTP. */
    readonly status: number,
    sentence: string,
    /** The name of Kafka's error code, where it is Kafka that refuses. */
    readonly code?: string,
  ) {
    super(sentence);
  }
}

/** Sends requests to a control port, or to a launcher. */
export class Requests {
  constructor(
    /** http://HOST:PORT */
    readonly url: string,
    private readonly token: string | undefined,
  ) {}

  /** Send a request, and give its answer as JSON. Throws `Refused`. */
  async ask<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    given: Given<QueryOf<M, P>, BodyOf<M, P>> = {},
  ): Promise<AnswerTo<M, P>> {
    return (await (await this.send(method, path, given)).json()) as AnswerTo<M, P>;
  }

  /** The same with the answer as it comes: what is no JSON, or has no end. Throws `Refused`. */
  async send(method: Method, path: string, given: Given = {}): Promise<Response> {
    const body = given.body;
    const init: RequestInit & { duplex?: "half" } = { method, signal: given.signal ?? null };
    init.headers = this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
    if (body instanceof Uint8Array) {
      init.body = body as Uint8Array<ArrayBuffer>;
    } else if (body !== undefined) {
      init.body = JSON.stringify(body);
    }
    const response = await fetch(this.url + filled(path, given.in ?? []) + asQuery(given.query), init);
    if (response.ok) {
      return response;
    }
    const said = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
    throw new Refused(response.status, said.error ?? response.statusText, said.code);
  }
}

function filled(path: string, values: readonly (string | number | bigint)[]): string {
  let next = 0;
  return path.replace(/\{\w+\}/g, () => encodeURIComponent(String(values[next++])));
}

function asQuery(query: unknown): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) {
        search.append(name, String(one));
      }
    }
  }
  return search.size === 0 ? "" : `?${search}`;
}
