import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { Requests } from "./client.js";
import { findCommand } from "./command.js";
import type { Rule } from "./parts.js";

const READY = /^kafkastub launcher ready on (\S+) \(token (\S+)\)$/;
/** More than a launcher takes, on a machine with much other work too (docs/launcher.md). */
const START_MS = 180_000;
const MOST_SAID = 4000;

/** What a stub is asked to be; what is left out is left to kafkastub (docs/launcher.md). */
export interface StubOptions {
  /** Shown in the launcher's lists. */
  name?: string;
  /** Topics with their numbers of partitions, or names of topics with one each. */
  topics?: Record<string, number> | string[];
  /** Kafka's broker configuration. */
  config?: Record<string, string | number | boolean>;
  /** Path of a server.properties; `config` wins over it. */
  configFile?: string;
  profile?: "kips" | "kafka";
  /** Serve as this Apache Kafka release does, "3.9". */
  asVersion?: string;
  host?: string;
  port?: number;
  advertised?: string;
  nodes?: number;
  racks?: string[];
  /** Path of a folder that keeps everything for the next stub. */
  dataDir?: string;
  /** Path of a snapshot's file, which the stub begins with. */
  snapshot?: string;
  /** Passwords by user, for SASL. */
  users?: Record<string, string>;
  faults?: Rule[];
  /** A seed, or the name of a scenario. */
  chaos?: number | string;
  chaosLevel?: 1 | 2 | 3;
  journal?: boolean | string;
  journalEntries?: number;
  check?: boolean;
  controlHost?: string;
  controlPort?: number;
  controlAllowedHosts?: string[];
  controlToken?: string;
  registry?: boolean;
  registryHost?: string;
  registryPort?: number;
}

/** A stub as the launcher describes it. */
export interface StubInfo {
  id: string;
  name: string | null;
  bootstrap_servers: string;
  listeners: Record<string, string>;
  control_url: string;
  control_token: string;
  registry_url: string | null;
  ca_file: string | null;
  started_in_ms: number;
}

/** A process that starts and ends stubs. It ends with this process, however that ends. */
export class Launcher {
  private readonly requests: Requests;

  private constructor(
    readonly url: string,
    readonly token: string,
    private readonly child?: ChildProcess,
  ) {
    this.requests = new Requests(url, token);
  }

  /** One that runs already: http://HOST:PORT#TOKEN. */
  static at(where: string): Launcher {
    const [url, token] = where.split("#");
    if (!url || !token) {
      throw new Error(`kafkastub: KAFKASTUB_LAUNCHER=${where} is refused: expected http://HOST:PORT#TOKEN`);
    }
    return new Launcher(url, token);
  }

  /** Start one. */
  static async start(options: { command?: string; args?: string[] } = {}): Promise<Launcher> {
    const command = findCommand(options.command);
    const child = spawn(command, ["launcher", ...(options.args ?? [])], { stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    child.stderr.on("data", (text: Buffer) => {
      said = (said + text.toString()).slice(0, MOST_SAID);
      process.stderr.write(text);
    });
    const late = setTimeout(() => child.kill("SIGKILL"), START_MS);
    try {
      const found = READY.exec(await firstLine(child, (line) => `${command} did not start: it said: ${line}${said}`));
      if (!found) {
        child.kill("SIGKILL");
        throw new Error(`kafkastub: ${command} did not start: it said: ${said}`);
      }
      // The tests' process may end while it runs; it does so by itself then.
      child.unref();
      for (const stream of [child.stdin, child.stdout, child.stderr]) {
        (stream as unknown as Duplex & { unref(): void }).unref();
      }
      return new Launcher(found[1] as string, found[2] as string, child);
    } finally {
      clearTimeout(late);
    }
  }

  /** What others set KAFKASTUB_LAUNCHER to, to use this one. */
  get address(): string {
    return `${this.url}#${this.token}`;
  }

  /** Start a stub. Throws `Refused` with a sentence that names the field. */
  async startStub(options: StubOptions): Promise<StubInfo> {
    const body = Object.fromEntries(
      Object.entries(options).map(([name, value]) => [name.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`), value]),
    );
    return (await (await this.requests.send("POST", "/v1/stubs", { body })).json()) as StubInfo;
  }

  /** End a stub: its ports are free afterwards. */
  async endStub(id: string): Promise<void> {
    await this.requests.send("DELETE", "/v1/stubs/{stub_id}", { in: [id] });
  }

  /** End it with all its stubs. One that another process has started goes on. */
  async close(): Promise<void> {
    const child = this.child;
    if (child !== undefined && child.exitCode === null) {
      await new Promise((resolve) => {
        child.ref();
        child.once("exit", resolve);
        child.stdin?.end();
      });
    }
  }
}

function firstLine(child: ChildProcess, failed: (line: string) => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = createInterface(child.stdout as NodeJS.ReadableStream);
    lines.once("line", (line) => {
      lines.close();
      child.stdout?.resume();
      resolve(line);
    });
    child.once("error", (error) => reject(new Error(`kafkastub: ${error.message}`)));
    child.once("close", () => reject(new Error(`kafkastub: ${failed("")}`)));
  });
}

let shared: Promise<Launcher> | undefined;

/** The launcher that all tests of this process have in common: that of KAFKASTUB_LAUNCHER, or one of its own. */
export function sharedLauncher(): Promise<Launcher> {
  const where = process.env["KAFKASTUB_LAUNCHER"];
  shared ??= where ? Promise.resolve(Launcher.at(where)) : Launcher.start();
  return shared;
}
