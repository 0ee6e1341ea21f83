import { Launcher, sharedLauncher, type StubInfo, type StubOptions } from "./launcher.js";
import { Control } from "./parts.js";

const REPORTED = 50;

/** A broker that runs, with what a test has in hand: clock, faults, waits, snapshots, journal … */
export class Stub extends Control {
  constructor(
    private readonly launcher: Launcher,
    private readonly info: StubInfo,
  ) {
    super(info.control_url, info.control_token);
  }

  /** What the launcher calls it. */
  get id(): string {
    return this.info.id;
  }

  /** HOST:PORT, for a client's bootstrap servers; of several nodes with commas between. */
  get bootstrapServers(): string {
    return this.info.bootstrap_servers;
  }

  /** The same as a list, as kafkajs wants it. */
  get brokers(): string[] {
    return this.info.bootstrap_servers.split(",");
  }

  /** Bootstrap servers by the listener's name. */
  get listeners(): Record<string, string> {
    return this.info.listeners;
  }

  /** Path of the certificate that clients with TLS trust; null where no listener has it. */
  get caFile(): string | null {
    return this.info.ca_file;
  }

  /** Where the schema registry is; null where there is none. */
  get registryUrl(): string | null {
    return this.info.registry_url;
  }

  /** Why clients may wait, and what the stub was asked, for people: the newest requests, a line each. */
  async report(): Promise<string> {
    const { entries, total } = await this.journal.query({ limit: REPORTED });
    const head = `kafkastub at ${this.bootstrapServers} was asked (the newest ${entries.length} of ${total}):`;
    const { causes } = await this.broker.causes();
    const why = causes.length ? ["why clients may wait:", ...causes.map((sentence) => `  ${sentence}`)] : [];
    return [...why, head, ...entries.map((entry) => entry.text)].join("\n");
  }

  /** End the stub: its ports are free afterwards. */
  async close(): Promise<void> {
    await this.launcher.endStub(this.id);
  }

  /** `await using stub = await startStub()`: it ends with the block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Start a stub. All of a process come from one launcher, which the first of them starts; a stub costs some milliseconds. */
export async function startStub(options: StubOptions = {}, launcher?: Launcher): Promise<Stub> {
  const from = launcher ?? (await sharedLauncher());
  return new Stub(from, await from.startStub(options));
}

type Body<Rest extends unknown[]> = (stub: Stub, ...rest: Rest) => unknown;

/**
 * A test with a stub of its own, for every test runner:
 *
 *     test("an order is shipped", withStub({ topics: { orders: 1 } }, async (stub) => { … }));
 *
 * The stub ends with the test. When the test fails, what the stub was asked is written to standard error.
 */
export function withStub<Rest extends unknown[] = []>(body: Body<Rest>): (...rest: Rest) => Promise<void>;
export function withStub<Rest extends unknown[] = []>(
  options: StubOptions,
  body: Body<Rest>,
): (...rest: Rest) => Promise<void>;
export function withStub<Rest extends unknown[]>(first: StubOptions | Body<Rest>, second?: Body<Rest>) {
  const [options, body] = typeof first === "function" ? [{}, first] : [first, second as Body<Rest>];
  const run = async (...rest: Rest): Promise<void> => {
    const stub = await startStub(options);
    try {
      await body(stub, ...rest);
    } catch (error) {
      await stub.report().then((text) => console.error(text), () => undefined);
      throw error;
    } finally {
      await stub.close();
    }
  };
  // Runners look how many parameters a test has: one with too many is given a callback.
  return Object.defineProperty(run, "length", { value: Math.max(0, body.length - 1) });
}
