import assert from "node:assert/strict";
import { test } from "node:test";
import { Kafka } from "kafkajs";
import { withStub } from "kafkastub";

test("an order is sent", withStub({ topics: { orders: 3 } }, async (stub) => {
  const producer = new Kafka({ brokers: stub.brokers }).producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "7", value: "two teapots" }] });
  await producer.disconnect();

  const { records } = await stub.topics.records("orders");
  assert.equal(records[0]?.value, "two teapots");
}));
