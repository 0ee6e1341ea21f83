const { withStub } = require("kafkastub");

test("a stub a test", withStub({ topics: { orders: 3 } }, async (stub) => {
  expect((await stub.topics.describe("orders")).partitions).toBe(3);
}));

test.each([1, 2])("with parameters: %i", (partitions) =>
  withStub({ topics: { orders: partitions } }, async (stub) => {
    expect((await stub.topics.describe("orders")).partitions).toBe(partitions);
  })(),
);
