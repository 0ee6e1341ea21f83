import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/**
 * Serve until `stop()`; topics are written NAME:PARTITIONS.
 * @param {...string} topics
 */
export async function startStub(...topics) {
  const { lines, stop } = serve(topics);
  return { broker: await next(lines, READY), stop };
}

/**
 * The same with the control port: `control` is its URL.
 * @param {...string} topics
 */
export async function startControlled(...topics) {
  const { lines, stop } = serve(topics, "--control-port", "0");
  return { broker: await next(lines, READY), control: await next(lines, CONTROL), stop };
}

const READY = /^kafkastub ready on (\S+) /;
const CONTROL = /^kafkastub control port on (\S+)/;

/**
 * @param {string[]} topics
 * @param {...string} more
 */
function serve(topics, ...more) {
  const args = ["serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0", ...more];
  if (topics.length > 0) {
    args.push("--topic", ...topics);
  }
  const stub = spawn(process.env.KAFKASTUB ?? "kafkastub", args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(stub, "exit");
  return {
    lines: createInterface(stub.stdout)[Symbol.asyncIterator](),
    stop: async () => {
      stub.kill("SIGTERM");
      await gone;
    },
  };
}

/**
 * What the next line says.
 * @param {AsyncIterator<string>} lines
 * @param {RegExp} wanted
 */
async function next(lines, wanted) {
  const { value } = await lines.next();
  const found = wanted.exec(value ?? "");
  if (!found?.[1]) {
    throw new Error(`kafkastub did not start; it said: ${value}`);
  }
  return found[1];
}
