import assert from "node:assert/strict";
import { test } from "node:test";
import { withStub, type Stub } from "kafkastub";
import { Clients } from "./clients.js";

const DAY_MS = 86_400_000;

/** A test with a stub, and clients that end with it. */
const five = (name: string, body: (stub: Stub, clients: (id: string) => Clients) => Promise<void>) =>
  test(name, { timeout: 120_000 }, withStub(
    { topics: { orders: 2 }, config: { "group.initial.rebalance.delay.ms": 0 } },
    async (stub) => {
      const open: Clients[] = [];
      try {
        await body(stub, (id) => open[open.push(new Clients(stub.brokers, id)) - 1] as Clients);
      } finally {
        await Promise.all(open.map((clients) => clients.close()));
      }
    },
  ));

five("a record arrives", async (_, clients) => {
  await clients("shop").send("two teapots");
  assert.equal(await (await clients("one").member()).first, "two teapots");
});

five("an offset expires", async (stub, clients) => {
  await stub.clock.freeze();
  await clients("one").commit("5");
  await stub.clock.advance(7 * DAY_MS - 1);
  assert.equal(await clients("one").committed(), "5");
  await stub.clock.advance(1);
  assert.equal(await clients("one").committed(), "-1");
});

five("a commit is refused once", async (stub, clients) => {
  const fault = await stub.faults.add({ api: "OffsetCommit", error: "COORDINATOR_LOAD_IN_PROGRESS", times: 1 });
  const { consumer, first } = await clients("one").member();
  await clients("shop").send("two teapots");
  await first;
  await consumer.commitOffsets([{ topic: "orders", partition: 0, offset: "5" }]);
  await fault.waitHits(1);
  assert.equal(await clients("one").committed(), "5");
});

five("two consumers share partitions", async (stub, clients) => {
  await Promise.all([clients("one").member(), clients("two").member()]);
  const place = (partition: number) => [{ topic: "orders", partition }];
  await stub.groups.waitAssigned("shipping", { one: place(0), two: place(1) }, 60);
});

five("a transaction is cut off", async (stub, clients) => {
  await clients("shop").send("two teapots", "shop");
  await stub.clock.advance({ minutes: 1, timers: true });
  await clients("other").send("a cup");
  assert.equal(await (await clients("one").member()).first, "a cup");
});
