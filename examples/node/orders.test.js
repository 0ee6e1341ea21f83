import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { withStub } from "kafkastub";

test("an order is shipped once", { timeout: 60_000 }, withStub({ topics: { orders: 1 } }, async (stub) => {
  const kafka = new Kafka({ brokers: stub.brokers, logLevel: logLevel.ERROR });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "7", value: "two teapots" }] });
  await producer.disconnect();

  const consumer = kafka.consumer({ groupId: "shipping" });
  await consumer.connect();
  await consumer.subscribe({ topic: "orders", fromBeginning: true });
  const shipped = await new Promise((resolve) =>
    consumer.run({ autoCommit: false, eachMessage: async ({ message }) => resolve(message) }),
  );
  assert.equal(shipped.value.toString(), "two teapots");
  await consumer.commitOffsets([{ topic: "orders", partition: 0, offset: "1" }]);
  await consumer.disconnect();

  const admin = kafka.admin();
  await admin.connect();
  const [orders] = await admin.fetchOffsets({ groupId: "shipping", topics: ["orders"] });
  assert.equal(orders.partitions[0].offset, "1");
  await admin.disconnect();
}));
