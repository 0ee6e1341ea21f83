import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withStub } from "kafkastub";
import { Clients } from "./clients.js";

const options = { topics: { orders: 1 }, config: { "group.initial.rebalance.delay.ms": 0 } };

/** Two tests at a time, each with a stub: a record is produced, consumed by a group, and committed. */
describe("many", { concurrency: 2 }, () => {
  for (let number = 0; number < 200; number += 1) {
    test(String(number), { timeout: 120_000 }, withStub(options, async (stub) => {
      const clients = new Clients(stub.brokers);
      try {
        await clients.send("two teapots");
        const { consumer, first } = await clients.member();
        assert.equal(await first, "two teapots");
        await consumer.commitOffsets([{ topic: "orders", partition: 0, offset: "1" }]);
      } finally {
        await clients.close();
      }
    }));
  }
});
