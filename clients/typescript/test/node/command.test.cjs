const assert = require("node:assert/strict");
const { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");
const { afterEach, beforeEach, test } = require("node:test");
const { Launcher, findCommand } = require("kafkastub");

const packaged = join(__dirname, "..", "..", "node_modules", "@kafkastub", `${process.platform}-${process.arch}`);

function program(folder, content = "#!/bin/sh\n") {
  const path = join(folder, "kafkastub");
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

const temporary = () => mkdtempSync(join(tmpdir(), "kafkastub-"));

function install() {
  mkdirSync(join(packaged, "kafkastub"), { recursive: true });
  writeFileSync(join(packaged, "package.json"), "{}");
  writeFileSync(join(packaged, "kafkastub", "VERSION"), "1.0.0\n");
  return program(join(packaged, "kafkastub"));
}

let before;
beforeEach(() => {
  before = { ...process.env };
  delete process.env.KAFKASTUB;
  process.env.PATH = temporary();
});
afterEach(() => {
  process.env = before;
  rmSync(packaged, { recursive: true, force: true });
});

test("the first command that there is counts", { skip: process.platform !== "linux" }, () => {
  const last = program(process.env.PATH);
  assert.equal(findCommand(), last);
  const inPackage = install();
  assert.equal(findCommand(), inPackage);
  process.env.KAFKASTUB = program(temporary());
  assert.equal(findCommand(), process.env.KAFKASTUB);
  const given = program(temporary());
  assert.equal(findCommand(given), given);
});

test("what cannot be found is told in a sentence", () => {
  assert.throws(() => findCommand(), { message: /KAFKASTUB to its command, or put kafkastub on the PATH$/ });
  process.env.KAFKASTUB = "/no/such";
  assert.throws(() => findCommand(), {
    message: "kafkastub: KAFKASTUB=/no/such is refused: there is no such program that can be run",
  });
});

test("a wrong platform is told", (t) => {
  t.mock.property?.(process, "arch", "mips");
  const arch = Object.getOwnPropertyDescriptor(process, "arch");
  Object.defineProperty(process, "arch", { ...arch, value: "mips" });
  try {
    assert.throws(() => findCommand(), { message: /there is no packaged kafkastub for \w+-mips: / });
  } finally {
    Object.defineProperty(process, "arch", arch);
  }
});

test("a damaged package is told", { skip: process.platform !== "linux" }, () => {
  install();
  rmSync(join(packaged, "kafkastub", "VERSION"));
  assert.throws(() => findCommand(), { message: /is damaged: files of it are missing; install it again$/ });
  chmodSync(join(packaged, "kafkastub", "kafkastub"), 0o644);
  assert.throws(() => findCommand(), { message: /kafkastub cannot be run; install it again$/ });
});

test("a process that is no launcher is told with what it said", async () => {
  const command = program(temporary(), "#!/bin/sh\necho no such option >&2\nexit 2\n");
  await assert.rejects(Launcher.start({ command }), { message: /did not start: it said: no such option/ });
});
