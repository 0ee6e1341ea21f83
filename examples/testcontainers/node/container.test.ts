import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { KafkaStubContainer } from "./kafka-stub-container.js";

/** What is missing to run a container; where KAFKASTUB_ENGINE is set, nothing may be. */
function whyNot(): string | undefined {
  if (process.env.KAFKASTUB_ENGINE) {
    return undefined;
  }
  const found = spawnSync("docker", ["image", "inspect", "kafkastub"], { encoding: "utf8" });
  return found.status === 0 ? undefined : (found.error?.message ?? found.stderr.trim());
}

test("a broker in a container", { timeout: 120_000, skip: whyNot() ?? false }, async () => {
  const stub = await new KafkaStubContainer().withTopics("orders:1").start();
  try {
    const kafka = new Kafka({ brokers: [stub.bootstrapServers], logLevel: logLevel.ERROR });
    const producer = kafka.producer();
    await producer.connect();
    const [sent] = await producer.send({ topic: "orders", messages: [{ value: "two teapots" }] });
    assert.equal(sent?.baseOffset, "0");
    await producer.disconnect();

    const moved = await fetch(`${stub.controlUrl}/v1/clock/advance`, { method: "POST", body: '{"by": "7d"}' });
    assert.equal(moved.status, 200);
  } finally {
    await stub.stop();
  }
});
