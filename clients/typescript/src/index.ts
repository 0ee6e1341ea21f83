/** Kafka brokers for tests: real clients, milliseconds to start, a clock that tests can move. */
export { findCommand } from "./command.js";
export { Refused, type AnswerTo, type BodyOf, type QueryOf } from "./client.js";
export { Launcher, sharedLauncher, type StubInfo, type StubOptions } from "./launcher.js";
export { Control, Fault, type Entry, type Rule } from "./parts.js";
export { Stub, startStub, withStub } from "./stub.js";
export type * from "./openapi.js";
