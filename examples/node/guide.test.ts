import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { withStub } from "kafkastub";

const options = { topics: { orders: 2 }, config: { "group.initial.rebalance.delay.ms": 0 } };

/** The example of docs/typescript.md, with clients around it: two workers that commit again and again. */
test("the clock, a fault and waits", { timeout: 60_000 }, withStub(options, async (stub) => {
  const both = [0, 1].map((partition) => ({ partition, value: "two teapots" }));
  await stub.topics.produce("orders", ...both);
  const workers = [];
  for (const clientId of ["one", "two"]) {
    const kafka = new Kafka({ clientId, brokers: stub.brokers, logLevel: logLevel.NOTHING });
    const worker = kafka.consumer({ groupId: "shipping", heartbeatInterval: 100 });
    await worker.connect();
    await worker.subscribe({ topic: "orders", fromBeginning: true });
    const last = new Map<number, string>();
    await worker.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        last.set(partition, String(Number(message.offset) + 1));
      },
    });
    const commits = setInterval(() => {
      const offsets = [...last].map(([partition, offset]) => ({ topic: "orders", partition, offset }));
      worker.commitOffsets(offsets).catch(() => undefined); // after a rebalance it may be another's
    }, 10);
    workers.push({ worker, commits });
  }
  try {
    await stub.groups.wait("shipping", { topic: "orders", lag: 0 });

    await stub.clock.advance({ days: 7 });
    const door = await stub.faults.add({ api: "OffsetCommit", hold: "before", times: 1 });
    await door.waitHeld(1);
    await door.release();
    await stub.groups.wait("shipping", { state: "Stable", members: 2 });
    await stub.groups.wait("shipping", { topic: "orders", lag: 0 });
  } finally {
    for (const { worker, commits } of workers) {
      clearInterval(commits);
      await worker.disconnect();
    }
  }
}));
