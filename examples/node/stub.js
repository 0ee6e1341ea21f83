import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Serve until `stop()`; topics are written NAME:PARTITIONS. Gives { broker: "HOST:PORT", stop }. */
export async function startStub(...topics) {
  const args = ["serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"];
  if (topics.length > 0) {
    args.push("--topic", ...topics);
  }
  const stub = spawn(process.env.KAFKASTUB ?? "kafkastub", args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(stub, "exit");
  const [line] = await Promise.race([
    once(createInterface(stub.stdout), "line"),
    gone.then(([status]) => [`(it ended with status ${status})`]),
  ]);
  const found = /^kafkastub ready on (\S+) /.exec(line);
  if (!found) {
    throw new Error(`kafkastub did not start: ${line}`);
  }
  return {
    broker: found[1],
    stop: async () => {
      stub.kill("SIGTERM");
      await gone;
    },
  };
}
