import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { Kafka, logLevel } from "kafkajs";
import { Launcher, Refused, startStub, withStub } from "kafkastub";

const answers = (address) =>
  new Promise((resolve) => {
    const [host, port] = address.split(":");
    const socket = connect(Number(port), host);
    socket.once("connect", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });

test("a client writes, and the test sees what is there", withStub({ topics: { orders: 1 } }, async (stub) => {
  const kafka = new Kafka({ brokers: stub.brokers, logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: "orders", messages: [{ key: "7", value: "two teapots" }] });
  await producer.disconnect();
  await stub.topics.wait("orders", { records: 1 });
  const { records } = await stub.topics.records("orders");
  assert.deepEqual(records.map(({ key, value }) => [key, value]), [["7", "two teapots"]]);
  assert.equal(Buffer.from(await stub.topics.raw("orders", 0, 0, "value")).toString(), "two teapots");
  const produced = await stub.journal.wait({ api: "Produce", client_id: "kafkajs" });
  assert.deepEqual(produced.topics, ["orders"]);
}));

test("a stub is one of its own, and ends with its block", async () => {
  let address;
  {
    const stub = await startStub({ topics: ["orders"] });
    const other = await startStub();
    try {
      assert.equal((await stub.topics.list()).total, 1);
      assert.equal((await other.topics.list()).total, 0);
      address = stub.bootstrapServers;
      assert.equal(await answers(address), true);
    } finally {
      await Promise.all([stub.close(), other.close()]);
    }
  }
  assert.equal(await answers(address), false);
});

test("time is in the hands of the test", withStub(async (stub) => {
  const before = await stub.clock.freeze();
  const after = await stub.clock.advance({ days: 7 });
  assert.equal(after.now_ms - before.now_ms, 7 * 86_400_000);
  assert.equal((await stub.clock.advance("1h")).now_ms - after.now_ms, 3_600_000);
  assert.equal((await stub.clock.set(new Date("2040-01-01T00:00:00Z"))).now, "2040-01-01T00:00:00.000Z");
}));

test("a rule holds a request until it is released", withStub({ topics: { orders: 1 } }, async (stub) => {
  const door = await stub.faults.add({ api: "Produce", hold: "before" });
  const kafka = new Kafka({ brokers: stub.brokers, logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  const sent = producer.send({ topic: "orders", messages: [{ value: "late" }] });
  await door.waitHeld(1);
  assert.equal((await stub.topics.records("orders")).records.length, 0);
  assert.match(await stub.report(), /^why clients may wait:\n  Fault .* holds 1 request until it is released: Produce of /);
  await door.release();
  await sent;
  assert.equal((await door.show()).hits, 1);
  await door.remove();
  await producer.disconnect();
}));

test("a snapshot goes into a file, and a stub begins with it", withStub({ topics: { orders: 4 } }, async (stub) => {
  await stub.snapshots.take("seed");
  const file = join(mkdtempSync(join(tmpdir(), "kafkastub-")), "seed");
  writeFileSync(file, await stub.snapshots.download("seed"));
  await withStub({ snapshot: file }, async (other) => {
    assert.equal((await other.topics.describe("orders")).partitions, 4);
  })();
}));

test("the journal is followed", withStub(async (stub) => {
  let over = false;
  const asking = (async () => {
    while (!over) {
      await stub.clock.freeze(); // it is in the journal, too
    }
  })();
  for await (const entry of stub.journal.follow()) {
    assert.match(entry.text, /the broker's clock: freeze/);
    break;
  }
  over = true;
  await asking;
}));

test("what is refused names the field", async () => {
  for (const [options, says] of [
    [{ nodes: 1000 }, /^nodes=1000 is refused/],
    [{ config: { "num.partitions": 0 } }, /^num\.partitions=0 is refused/],
    [{ asVersion: "1.0" }, /1\.0/],
    [{ topix: {} }, /^there is no field topix here$/],
  ]) {
    await assert.rejects(startStub(options), (error) => {
      assert.ok(error instanceof Refused);
      assert.equal(error.status, 400);
      assert.match(error.message, says);
      return true;
    });
  }
});

test("a port in use is told", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await assert.rejects(startStub({ port }), { status: 409, message: new RegExp(`port ${port} on 127.0.0.1 is taken`) });
  server.close();
});

test("a wait that is in vain says what was last seen", withStub(async (stub) => {
  const wait = stub.groups.wait("a group/with:signs", { state: "Stable", timeout: 0.01 });
  await assert.rejects(wait, { status: 408, message: /a group\/with:signs/ });
}));

test("a test that fails tells what the stub was asked", async (t) => {
  const said = [];
  t.mock.method(console, "error", (text) => said.push(text));
  const failing = withStub(async (stub) => {
    const admin = new Kafka({ brokers: stub.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.disconnect();
    throw new Error("it went wrong");
  });
  await assert.rejects(failing(), { message: "it went wrong" });
  assert.match(said.join("\n"), /kafkastub at 127\.0\.0\.1:\d+ was asked[^]*ApiVersions/);
});

test("tests share a launcher, or have one of their own", async () => {
  const launcher = await Launcher.start({ args: ["--most-stubs", "1"] });
  const stub = await startStub({}, Launcher.at(launcher.address));
  await assert.rejects(startStub({}, launcher), { status: 429 });
  await launcher.close();
  assert.equal(await answers(stub.bootstrapServers), false);
});

test("kill -9 of the tests leaves no broker behind", async () => {
  const script = `
    const { startStub } = require("kafkastub");
    startStub().then((stub) => { console.log(stub.bootstrapServers); setInterval(() => {}, 1e6); });`;
  const suite = spawn(process.execPath, ["-e", script], { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] });
  const [address] = await once(createInterface(suite.stdout), "line");
  assert.equal(await answers(address), true);
  suite.kill("SIGKILL");
  await once(suite, "exit");
  for (const deadline = Date.now() + 60_000; await answers(address); ) {
    assert.ok(Date.now() < deadline, `${address} still answers`);
  }
});

test("a process whose tests are over ends by itself", async () => {
  const script = `require("kafkastub").startStub({ topics: ["orders"] }).then((stub) => stub.topics.list());`;
  const suite = spawn(process.execPath, ["-e", script], { cwd: import.meta.dirname, stdio: "inherit" });
  assert.deepEqual(await once(suite, "exit"), [0, null]);
});
