import { expect, test } from "vitest";
import { startStub, withStub } from "kafkastub";

test("a stub a test", withStub({ topics: { orders: 3 } }, async (stub) => {
  expect((await stub.topics.describe("orders")).partitions).toBe(3);
}));

test.concurrent.each([1, 2, 3])("stubs at the same time: %i", async (partitions) => {
  const stub = await startStub({ topics: { orders: partitions } });
  expect((await stub.topics.describe("orders")).partitions).toBe(partitions);
  await stub.close();
});
