/** The control port of a stub, `kafkastub serve --control-port 0`. Waits are over after ten seconds. */
export class Control {
  /** `url` is what `serve` prints: http://HOST:PORT */
  constructor(private readonly url: string) {}

  /** Let broker time stand still. */
  freeze(): Promise<Clock> {
    return this.ask("POST", "/v1/clock/freeze");
  }

  /** Let it go on from where it stands. */
  unfreeze(): Promise<Clock> {
    return this.ask("POST", "/v1/clock/unfreeze");
  }

  /** Move it forward: `{ days: 7 }`. Afterwards all that fell due on the way has happened. */
  advance(by: { days?: number; hours?: number; minutes?: number; seconds?: number }): Promise<Clock> {
    return this.ask("POST", "/v1/clock/advance", by);
  }

  /** Keep the broker's state under a name, which is free. */
  snapshot(id: string): Promise<void> {
    return this.ask("POST", "/v1/snapshots", { id });
  }

  /** Be what it was then. Clients are disconnected, and come back by themselves. */
  restore(id: string): Promise<void> {
    return this.ask("POST", `/v1/snapshots/${encodeURIComponent(id)}/restore`);
  }

  /** Add a rule as docs/faults.md has it: `{ api: "Fetch", delay_ms: 500 }`. */
  async addFault(rule: Rule): Promise<Fault> {
    const { id } = await this.ask<{ id: string }>("POST", "/v1/faults", rule);
    const path = `/v1/faults/${encodeURIComponent(id)}`;
    return {
      waitHits: (hits) => this.wait(`${path}/wait`, { hits }),
      waitHeld: (held) => this.wait(`${path}/wait`, { held }),
      release: (n) => this.ask("POST", `${path}/release`, n === undefined ? {} : { n }),
      remove: () => this.ask("DELETE", path),
    };
  }

  /** Wait until a topic has so many records. */
  waitTopic(topic: string, records: number): Promise<void> {
    return this.wait(`/v1/topics/${encodeURIComponent(topic)}/wait`, { records });
  }

  /** Wait until a group is in a state, such as Stable, has so many members, or lags by so many records at most. */
  waitGroup(group: string, wanted: { state?: string; members?: number; lag?: number; topic?: string }): Promise<void> {
    return this.wait(`/v1/groups/${encodeURIComponent(group)}/wait`, wanted);
  }

  /** Wait until nothing was asked for so long, but fetches, heartbeats and metadata. */
  waitQuiet(seconds: number): Promise<void> {
    return this.wait("/v1/journal/wait-quiet", { seconds });
  }

  private wait(path: string, wanted: Record<string, string | number>): Promise<void> {
    const query = new URLSearchParams({ timeout: "10" });
    for (const [name, value] of Object.entries(wanted)) {
      query.set(name, String(value));
    }
    return this.ask("GET", `${path}?${query}`);
  }

  private async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(this.url + path, { method, ...content });
    const answer = await response.json();
    if (!response.ok) {
      throw new Refused(response.status, (answer as { error: string }).error);
    }
    return answer as Answer;
  }
}

/** Broker time, in ISO 8601 and in Unix milliseconds. */
export interface Clock {
  now: string;
  now_ms: number;
  frozen: boolean;
}

/** A fault: what it matches, and what happens then. */
export interface Rule {
  api: string;
  [field: string]: string | number | boolean | string[];
}

/** A rule that is there. */
export interface Fault {
  /** Wait until so many requests have met it. */
  waitHits(hits: number): Promise<void>;
  /** Wait until it holds so many requests, or more. */
  waitHeld(held: number): Promise<void>;
  /** Let the first `n` requests go that it holds, or all. */
  release(n?: number): Promise<void>;
  /** Take the rule away; whom it holds goes. */
  remove(): Promise<void>;
}

/** An answer that says no. A wait that was in vain has the status 408, and says what it last saw. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(`${sentence} (${status})`);
  }
}
