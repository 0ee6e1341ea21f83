import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { Refused, startStub, type Stub } from "kafkastub";

describe("each test begins with two orders, and a group that has committed nothing", { timeout: 60_000 }, () => {
  let stub: Stub;

  const connect = (clientId: string) =>
    new Kafka({ clientId, brokers: stub.brokers, logLevel: logLevel.NOTHING, retry: { initialRetryTime: 5 } });

  async function send(clientId: string, ...orders: string[]) {
    const producer = connect(clientId).producer();
    await producer.connect();
    await producer.send({ topic: "orders", messages: orders.map((value) => ({ value })) });
    await producer.disconnect();
  }

  async function withAdmin<T>(ask: (admin: ReturnType<Kafka["admin"]>) => Promise<T>): Promise<T> {
    const admin = connect("admin").admin();
    await admin.connect();
    return ask(admin).finally(() => admin.disconnect());
  }

  const commit = (offset: string) =>
    withAdmin((admin) =>
      admin.setOffsets({ groupId: "shipping", topic: "orders", partitions: [{ partition: 0, offset }] }),
    );

  /** The offset of the group, "-1" where there is none. */
  const committed = async () => {
    const [orders] = await withAdmin((admin) => admin.fetchOffsets({ groupId: "shipping", topics: ["orders"] }));
    return orders?.partitions[0]?.offset;
  };

  before(async () => {
    stub = await startStub({ topics: { orders: 1 }, config: { "group.initial.rebalance.delay.ms": 0 } });
    await send("shop", "two teapots", "a cup");
    await stub.topics.wait("orders", { records: 2 });
    await stub.snapshots.take("seed");
  });

  beforeEach(async () => {
    await stub.snapshots.restore("seed");
    assert.equal(await committed(), "-1");
  });

  after(() => stub.close());

  test("orders are shipped", async () => {
    const worker = connect("worker").consumer({ groupId: "shipping", maxWaitTimeInMs: 100 });
    await worker.connect();
    await worker.subscribe({ topic: "orders", fromBeginning: true });
    await worker.run({ autoCommitThreshold: 1, eachMessage: async () => {} });
    await stub.groups.wait("shipping", { state: "Stable", members: 1 });
    await stub.groups.wait("shipping", { lag: 0, topic: "orders" });
    await stub.journal.waitQuiet(0.05);
    await worker.disconnect();
    assert.equal(await committed(), "2");
  });

  test("what was sent first is written last", async () => {
    const door = await stub.faults.add({ api: "Produce", client_id: "slow", hold: "before" });
    try {
      const slow = send("slow", "sent first");
      await door.waitHeld(1);
      await send("fast", "sent last");
      await door.release();
      await slow;
    } finally {
      await door.remove();
    }
    const reader = connect("reader").consumer({ groupId: "readers", maxWaitTimeInMs: 100 });
    await reader.connect();
    await reader.subscribe({ topic: "orders", fromBeginning: true });
    const orders: (string | undefined)[] = [];
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async ({ message }: { message: { value: Buffer | null } }) => {
        if (orders.push(message.value?.toString()) === 4) {
          resolve();
        }
      };
      reader.run({ eachMessage }).catch(reject);
    });
    await reader.disconnect();
    assert.deepEqual(orders, ["two teapots", "a cup", "sent last", "sent first"]);
  });

  test("an idle group survives the weekend and not a week", async () => {
    await stub.clock.freeze();
    await commit("1");
    await stub.clock.advance({ days: 3 });
    assert.equal(await committed(), "1");
    await stub.clock.advance({ days: 4 });
    assert.equal(await committed(), "-1");
  });

  test("what is refused says why", async () => {
    await assert.rejects(stub.snapshots.restore("no such"), (error) => error instanceof Refused && error.status === 404);
  });
});
