/** What a stub has in hand, a class a subject; each method is one request to the control port (docs/control.md). */
import type { BodyOf, QueryOf } from "./client.js";
import { Requests } from "./client.js";
import type { FaultState, GivenRecord, NewTopic } from "./openapi.js";

/** Seconds that a wait lasts which says nothing else; then it is refused with what was last seen. */
const PATIENCE = 10;

/** A fault: the requests that it matches, and what happens to them (docs/faults.md). */
export type Rule = Partial<BodyOf<"POST", "/v1/faults">>;

class Part {
  constructor(protected readonly requests: Requests) {}
}

/** Broker time: it stamps records and commits, and drives every retention. */
export class Clock extends Part {
  show() {
    return this.requests.ask("GET", "/v1/clock");
  }

  /** Let broker time stand still until it is moved. */
  freeze() {
    return this.requests.ask("POST", "/v1/clock/freeze");
  }

  /** Let it go on from where it stands. */
  unfreeze() {
    return this.requests.ask("POST", "/v1/clock/unfreeze");
  }

  /**
   * Move it forward: `{ days: 7 }`, "1h30m" or milliseconds. Afterwards all that fell due on the way has happened, each at
   * its own time. With `timers: true` sessions, rebalances and long polls get as much older.
   */
  advance(by: string | number | Partial<BodyOf<"POST", "/v1/clock/advance">>) {
    const body = typeof by === "string" ? { by } : typeof by === "number" ? { milliseconds: by } : by;
    return this.requests.ask("POST", "/v1/clock/advance", { body: body as BodyOf<"POST", "/v1/clock/advance"> });
  }

  /** Set it to a moment: forward only, except on a stub without state. */
  set(to: Date | string | number) {
    return this.requests.ask("POST", "/v1/clock/set", { body: { to: to instanceof Date ? to.getTime() : to } });
  }

  /** What would be gone if broker time went on, the next first. */
  forecast(query?: QueryOf<"GET", "/v1/clock/forecast">) {
    return this.requests.ask("GET", "/v1/clock/forecast", { query });
  }
}

/** A rule that was added. */
export class Fault extends Part {
  constructor(
    requests: Requests,
    /** As it was when it was added. */
    readonly added: FaultState,
  ) {
    super(requests);
  }

  get id(): string {
    return this.added.id;
  }

  /** What has come of it until now. */
  show() {
    return this.requests.ask("GET", "/v1/faults/{fault_id}", { in: [this.id] });
  }

  /** Wait until so many requests have met it. */
  waitHits(hits: number) {
    return this.wait({ hits, timeout: PATIENCE });
  }

  /** Wait until it holds so many requests, or more. */
  waitHeld(held: number) {
    return this.wait({ held, timeout: PATIENCE });
  }

  wait(query: QueryOf<"GET", "/v1/faults/{fault_id}/wait">) {
    return this.requests.ask("GET", "/v1/faults/{fault_id}/wait", { in: [this.id], query });
  }

  /** Let the first `n` requests go that it holds, or all; those of a `connection`, by the number that the journal gives it. */
  release(whom: { n?: number; connection?: number } = {}) {
    return this.requests.ask("POST", "/v1/faults/{fault_id}/release", { in: [this.id], body: whom });
  }

  /** Take the rule away; the requests that it holds go. */
  remove() {
    return this.requests.ask("DELETE", "/v1/faults/{fault_id}", { in: [this.id] });
  }
}

/** What goes wrong, and when (docs/faults.md). */
export class Faults extends Part {
  /** Add a rule behind those that are there. */
  async add(rule: Rule): Promise<Fault> {
    const body = rule as BodyOf<"POST", "/v1/faults">;
    return new Fault(this.requests, await this.requests.ask("POST", "/v1/faults", { body }));
  }

  list() {
    return this.requests.ask("GET", "/v1/faults");
  }

  /** Remove all fault rules. */
  clear() {
    return this.requests.ask("DELETE", "/v1/faults");
  }

  /** All that is held: requests, transaction markers, acknowledgements, revocations. */
  holds() {
    return this.requests.ask("GET", "/v1/holds");
  }
}

/** Trouble that every correct client survives (docs/chaos.md). */
export class Chaos extends Part {
  show() {
    return this.requests.ask("GET", "/v1/chaos");
  }

  /** Begin with a seed, acts or a scenario. */
  start(body: Partial<BodyOf<"PUT", "/v1/chaos">>) {
    return this.requests.ask("PUT", "/v1/chaos", { body: body as BodyOf<"PUT", "/v1/chaos"> });
  }

  stop() {
    return this.requests.ask("DELETE", "/v1/chaos");
  }
}

/** A request with its answer: the columns of docs/journal.md, and a line for people. */
export interface Entry {
  sequence: number;
  text: string;
  api: string;
  client_id: string | null;
  outcome: string;
  groups: string[];
  topics: string[];
  errors: { code: number; name: string; count: number }[];
  [column: string]: unknown;
}

/** The requests that the stub was asked, with its answers (docs/journal.md). */
export class Journal extends Part {
  /** The newest entries, or with `since` the oldest from there on. */
  async query(query?: QueryOf<"GET", "/v1/journal">) {
    const page = await this.requests.ask("GET", "/v1/journal", { query });
    return { ...page, entries: page.entries as unknown as Entry[] };
  }

  /** Forget all entries. */
  clear() {
    return this.requests.ask("DELETE", "/v1/journal");
  }

  /** The first answered request that matches, as soon as there is one. */
  async wait(query: QueryOf<"GET", "/v1/journal/wait">): Promise<Entry> {
    const found = await this.requests.ask("GET", "/v1/journal/wait", { query: { timeout: PATIENCE, ...query } });
    return found.entry as unknown as Entry;
  }

  /** Wait until nothing was asked for so many seconds, except fetches, heartbeats and metadata. */
  waitQuiet(seconds = 0.2, query: QueryOf<"GET", "/v1/journal/wait-quiet"> = {}) {
    return this.requests.ask("GET", "/v1/journal/wait-quiet", { query: { timeout: PATIENCE, ...query, seconds } });
  }

  /** Return an entry field by field, with its bytes. */
  decode(sequence: number, query?: QueryOf<"GET", "/v1/journal/{sequence}">) {
    return this.requests.ask("GET", "/v1/journal/{sequence}", { in: [sequence], query });
  }

  /** All entries, as JSON lines or Parquet. */
  async export(query?: QueryOf<"GET", "/v1/journal/export">): Promise<Uint8Array> {
    return bytes(await this.requests.send("GET", "/v1/journal/export", { query }));
  }

  /** Entries from now on, until the loop is left. */
  async *follow(query?: QueryOf<"GET", "/v1/journal/follow">): AsyncGenerator<Entry> {
    for await (const line of lines(await this.requests.send("GET", "/v1/journal/follow", { query }))) {
      if (line !== "") {
        yield JSON.parse(line) as Entry;
      }
    }
  }
}

/** Topics with their records. */
export class Topics extends Part {
  list(query?: QueryOf<"GET", "/v1/topics">) {
    return this.requests.ask("GET", "/v1/topics", { query });
  }

  /** Create a topic; clients see it at once. */
  create(topic: Partial<NewTopic> & { name: string }) {
    return this.requests.ask("POST", "/v1/topics", { body: topic as NewTopic });
  }

  describe(name: string, query?: QueryOf<"GET", "/v1/topics/{name}">) {
    return this.requests.ask("GET", "/v1/topics/{name}", { in: [name], query });
  }

  delete(name: string) {
    return this.requests.ask("DELETE", "/v1/topics/{name}", { in: [name] });
  }

  /** Wait until a topic is there, with so many partitions, so many records that match. */
  wait(name: string, query: QueryOf<"GET", "/v1/topics/{name}/wait"> = {}) {
    return this.requests.ask("GET", "/v1/topics/{name}/wait", { in: [name], query: { timeout: PATIENCE, ...query } });
  }

  /** Read records of a partition, without a client. */
  records(name: string, query?: QueryOf<"GET", "/v1/topics/{name}/records">) {
    return this.requests.ask("GET", "/v1/topics/{name}/records", { in: [name], query });
  }

  /** Write records, without a client. */
  produce(name: string, ...records: Partial<GivenRecord>[]) {
    return this.requests.ask("POST", "/v1/topics/{name}/records", {
      in: [name],
      body: { records: records as GivenRecord[] },
    });
  }

  /** Records with a text in their key, value or headers. */
  search(name: string, query: QueryOf<"GET", "/v1/topics/{name}/search">) {
    return this.requests.ask("GET", "/v1/topics/{name}/search", { in: [name], query });
  }

  /** Return the offset of a partition's first record at or after a time. */
  offsetAt(name: string, query: QueryOf<"GET", "/v1/topics/{name}/offset">) {
    return this.requests.ask("GET", "/v1/topics/{name}/offset", { in: [name], query });
  }

  /** Keys or values, read by a schema. */
  avro(name: string, body: BodyOf<"POST", "/v1/topics/{name}/avro">) {
    return this.requests.ask("POST", "/v1/topics/{name}/avro", { in: [name], body });
  }

  /** The bytes of the key or the value of one record. */
  async raw(name: string, partition: number, offset: number | bigint, part: "key" | "value"): Promise<Uint8Array> {
    const path = "/v1/topics/{name}/partitions/{partition}/records/{offset}/{part}";
    return bytes(await this.requests.send("GET", path, { in: [name, partition, offset, part] }));
  }
}

/** Consumer groups, of the classic and of the consumer protocol (docs/consumer-groups.md). */
export class Groups extends Part {
  list(query?: QueryOf<"GET", "/v1/groups">) {
    return this.requests.ask("GET", "/v1/groups", { query });
  }

  /** Return a group with its members and offsets, and when each of these expires. */
  describe(group: string, query?: QueryOf<"GET", "/v1/groups/{group}">) {
    return this.requests.ask("GET", "/v1/groups/{group}", { in: [group], query });
  }

  delete(group: string) {
    return this.requests.ask("DELETE", "/v1/groups/{group}", { in: [group] });
  }

  /** Each partition that it reads or has an offset of. */
  partitions(group: string, query?: QueryOf<"GET", "/v1/groups/{group}/partitions">) {
    return this.requests.ask("GET", "/v1/groups/{group}/partitions", { in: [group], query });
  }

  /** Why its members get no records, as far as the broker sees it. */
  findings(group: string) {
    return this.requests.ask("GET", "/v1/groups/{group}/findings", { in: [group] });
  }

  /** Wait until it is in a state, has so many members, or is behind by so many records at most. */
  wait(group: string, query: QueryOf<"GET", "/v1/groups/{group}/wait">) {
    return this.requests.ask("GET", "/v1/groups/{group}/wait", { in: [group], query: { timeout: PATIENCE, ...query } });
  }

  /** Wait until members have exactly these partitions. */
  waitAssigned(
    group: string,
    assignment: BodyOf<"POST", "/v1/groups/{group}/wait-assigned">["assignment"],
    timeout = PATIENCE,
  ) {
    return this.requests.ask("POST", "/v1/groups/{group}/wait-assigned", { in: [group], body: { assignment, timeout } });
  }

  /** Say what members are to have. */
  setTarget(group: string, target: BodyOf<"PUT", "/v1/groups/{group}/target">["target"]) {
    return this.requests.ask("PUT", "/v1/groups/{group}/target", { in: [group], body: { target } });
  }

  /** Hold back what a member gives up in a rebalance. */
  holdRevocation(group: string, member: string) {
    return this.requests.ask("POST", "/v1/groups/{group}/hold-revocation", { in: [group], body: { member } });
  }

  /** Let others have it. */
  releaseRevocation(group: string, member: string) {
    return this.requests.ask("POST", "/v1/groups/{group}/release-revocation", { in: [group], body: { member } });
  }

  /** End a member's session now. */
  endSession(group: string, member: string) {
    return this.requests.ask("POST", "/v1/groups/{group}/end-session", { in: [group], body: { member } });
  }

  /** Delete expired offsets now. */
  expire() {
    return this.requests.ask("POST", "/v1/groups/expire");
  }
}

/** Groups of share consumers (docs/share-groups.md). */
export class ShareGroups extends Part {
  list(query?: QueryOf<"GET", "/v1/share-groups">) {
    return this.requests.ask("GET", "/v1/share-groups", { query });
  }

  /** One group with its members, and whose its records are. */
  describe(group: string, query?: QueryOf<"GET", "/v1/share-groups/{group}">) {
    return this.requests.ask("GET", "/v1/share-groups/{group}", { in: [group], query });
  }

  /** Set the configuration of a share group, which need not exist yet. */
  configure(group: string, configs: BodyOf<"PUT", "/v1/share-groups/{group}/configs">["configs"]) {
    return this.requests.ask("PUT", "/v1/share-groups/{group}/configs", { in: [group], body: { configs } });
  }

  /** Wait until members have acquired records, so many acknowledgements are held, or the lag is so small. */
  wait(group: string, query: QueryOf<"GET", "/v1/share-groups/{group}/wait"> = {}) {
    return this.requests.ask("GET", "/v1/share-groups/{group}/wait", {
      in: [group],
      query: { timeout: PATIENCE, ...query },
    });
  }

  /** The same with what is waited for in a body. */
  waitFor(group: string, wanted: Partial<BodyOf<"POST", "/v1/share-groups/{group}/wait">>) {
    const body = { timeout: PATIENCE, ...wanted } as BodyOf<"POST", "/v1/share-groups/{group}/wait">;
    return this.requests.ask("POST", "/v1/share-groups/{group}/wait", { in: [group], body });
  }

  /** Have nothing become of what members say. */
  holdAcknowledgements(group: string) {
    return this.requests.ask("POST", "/v1/share-groups/{group}/hold-acknowledgements", { in: [group] });
  }

  /** Let it count. */
  releaseAcknowledgements(group: string) {
    return this.requests.ask("POST", "/v1/share-groups/{group}/release-acknowledgements", { in: [group] });
  }

  /** End a member's session now. */
  endSession(group: string, member: string) {
    return this.requests.ask("POST", "/v1/share-groups/{group}/end-session", { in: [group], body: { member } });
  }
}

/** Groups of Kafka Streams (docs/streams-groups.md). */
export class StreamsGroups extends Part {
  list(query?: QueryOf<"GET", "/v1/streams-groups">) {
    return this.requests.ask("GET", "/v1/streams-groups", { query });
  }

  /** One group: what it runs, what it lacks, its members with their tasks. */
  describe(group: string) {
    return this.requests.ask("GET", "/v1/streams-groups/{group}", { in: [group] });
  }

  /** Set the configuration of a streams group, which need not exist yet. */
  configure(group: string, configs: BodyOf<"PUT", "/v1/streams-groups/{group}/configs">["configs"]) {
    return this.requests.ask("PUT", "/v1/streams-groups/{group}/configs", { in: [group], body: { configs } });
  }

  /** Wait until every task is worked on, by so many members, or it lacks something. */
  wait(group: string, query: QueryOf<"GET", "/v1/streams-groups/{group}/wait"> = {}) {
    return this.requests.ask("GET", "/v1/streams-groups/{group}/wait", {
      in: [group],
      query: { timeout: PATIENCE, ...query },
    });
  }

  /** Wait until members have these tasks. */
  waitFor(group: string, wanted: Partial<BodyOf<"POST", "/v1/streams-groups/{group}/wait">>) {
    const body = { timeout: PATIENCE, ...wanted } as BodyOf<"POST", "/v1/streams-groups/{group}/wait">;
    return this.requests.ask("POST", "/v1/streams-groups/{group}/wait", { in: [group], body });
  }

  /** Request the shutdown of the whole application, in the name of a member. */
  shutDown(group: string, member: string) {
    return this.requests.ask("POST", "/v1/streams-groups/{group}/shut-down", { in: [group], body: { member } });
  }

  /** End a member's session now. */
  endSession(group: string, member: string) {
    return this.requests.ask("POST", "/v1/streams-groups/{group}/end-session", { in: [group], body: { member } });
  }
}

/** The transactional ids (docs/transactions.md). */
export class Transactions extends Part {
  list(query?: QueryOf<"GET", "/v1/transactions">) {
    return this.requests.ask("GET", "/v1/transactions", { query });
  }

  /** One of them; with `state` once it is in that state. */
  show(id: string, query?: QueryOf<"GET", "/v1/transactions/{transactional_id}">) {
    return this.requests.ask("GET", "/v1/transactions/{transactional_id}", { in: [id], query });
  }

  /** Abort its open transaction, as its timeout would. */
  abort(id: string) {
    return this.requests.ask("POST", "/v1/transactions/{transactional_id}/abort", { in: [id] });
  }

  /** Hold the markers of a transactional id from now on. */
  holdMarkers(id: string) {
    return this.requests.ask("POST", "/v1/transactions/{transactional_id}/hold", { in: [id] });
  }

  /** Write them. */
  releaseMarkers(id: string) {
    return this.requests.ask("POST", "/v1/transactions/{transactional_id}/release", { in: [id] });
  }

  /** Open transactions that nobody is going to end. */
  hanging() {
    return this.requests.ask("GET", "/v1/hanging-transactions");
  }

  /** Make one. */
  hang(where: BodyOf<"POST", "/v1/hanging-transactions">) {
    return this.requests.ask("POST", "/v1/hanging-transactions", { body: where });
  }

  /** End one. */
  endHanging(which: BodyOf<"POST", "/v1/hanging-transactions/abort">) {
    return this.requests.ask("POST", "/v1/hanging-transactions/abort", { body: which });
  }
}

/** The stub's state, kept by name (docs/without-sleeps.md). */
export class Snapshots extends Part {
  /** Keep the state as it is now; without a name it is given one. */
  take(id?: string) {
    return this.requests.ask("POST", "/v1/snapshots", { body: id === undefined ? {} : { id } });
  }

  /** Put the stub back to it. Its clients are disconnected, and come back by themselves. */
  restore(id: string) {
    return this.requests.ask("POST", "/v1/snapshots/{snapshot_id}/restore", { in: [id] });
  }

  list() {
    return this.requests.ask("GET", "/v1/snapshots");
  }

  show(id: string) {
    return this.requests.ask("GET", "/v1/snapshots/{snapshot_id}", { in: [id] });
  }

  delete(id: string) {
    return this.requests.ask("DELETE", "/v1/snapshots/{snapshot_id}", { in: [id] });
  }

  /** The snapshot as a file. */
  async download(id: string): Promise<Uint8Array> {
    return bytes(await this.requests.send("GET", "/v1/snapshots/{snapshot_id}/file", { in: [id] }));
  }

  /** Keep such a file. */
  async upload(id: string, file: Uint8Array) {
    const sent = await this.requests.send("PUT", "/v1/snapshots/{snapshot_id}/file", { in: [id], body: file });
    return (await sent.json()) as Awaited<ReturnType<Snapshots["show"]>>;
  }
}

/** The nodes of the cluster, and who leads what (docs/nodes.md). */
export class Nodes extends Part {
  list() {
    return this.requests.ask("GET", "/v1/nodes");
  }

  show(node: number) {
    return this.requests.ask("GET", "/v1/nodes/{node_id}", { in: [node] });
  }

  add(rack?: string) {
    return this.requests.ask("POST", "/v1/nodes", { body: rack === undefined ? {} : { rack } });
  }

  stop(node: number) {
    return this.requests.ask("POST", "/v1/nodes/{node_id}/stop", { in: [node] });
  }

  start(node: number) {
    return this.requests.ask("POST", "/v1/nodes/{node_id}/start", { in: [node] });
  }

  /** Let a node lead a partition. */
  moveLeader(move: BodyOf<"POST", "/v1/leaders">) {
    return this.requests.ask("POST", "/v1/leaders", { body: move });
  }

  /** Let a node coordinate a group, or a transactional id. */
  moveCoordinator(move: BodyOf<"POST", "/v1/coordinators">) {
    return this.requests.ask("POST", "/v1/coordinators", { body: move });
  }

  /** Return the advertised addresses. */
  advertised() {
    return this.requests.ask("GET", "/v1/advertised");
  }

  /** Tell them another address. */
  advertise(address: string, node?: number) {
    return this.requests.ask("PUT", "/v1/advertised", { body: node === undefined ? { address } : { address, node } });
  }
}

/** What clients may use (docs/quotas.md). */
export class Quotas extends Part {
  list(query?: QueryOf<"GET", "/v1/quotas">) {
    return this.requests.ask("GET", "/v1/quotas", { query });
  }

  /** Set or remove quotas. */
  alter(change: BodyOf<"POST", "/v1/quotas">) {
    return this.requests.ask("POST", "/v1/quotas", { body: change });
  }
}

/** Who may do what (docs/security.md). */
export class Acls extends Part {
  list(query?: QueryOf<"GET", "/v1/acls">) {
    return this.requests.ask("GET", "/v1/acls", { query });
  }

  add(entry: BodyOf<"POST", "/v1/acls">) {
    return this.requests.ask("POST", "/v1/acls", { body: entry });
  }

  /** Remove the entries that fit. */
  remove(query?: QueryOf<"DELETE", "/v1/acls">) {
    return this.requests.ask("DELETE", "/v1/acls", { query });
  }

  /** Report whether a principal may do an operation, and the entries that decide it. */
  access(query: QueryOf<"GET", "/v1/acls/access">) {
    return this.requests.ask("GET", "/v1/acls/access", { query });
  }
}

/** The stub as a whole. */
export class Broker extends Part {
  index() {
    return this.requests.ask("GET", "/");
  }

  /** Whether clients can begin; refused with the status 503 where something is missing. */
  health(query?: QueryOf<"GET", "/health">) {
    return this.requests.ask("GET", "/health", { query });
  }

  /** Prometheus' text format. */
  async metrics(): Promise<string> {
    return (await this.requests.send("GET", "/metrics")).text();
  }

  /** Count topics, groups, records, requests and more. */
  summary() {
    return this.requests.ask("GET", "/v1/summary");
  }

  /** What has changed, as server-sent events: lines until the loop is left. */
  async *events(query: QueryOf<"GET", "/v1/events">): AsyncGenerator<string> {
    yield* lines(await this.requests.send("GET", "/v1/events", { query }));
  }

  /** Why clients may wait: at most eight sentences, the most likely cause first. */
  causes(query?: QueryOf<"GET", "/v1/causes">) {
    return this.requests.ask("GET", "/v1/causes", { query });
  }

  /** What the application did to its records (docs/guarantees.md). */
  check(query?: QueryOf<"GET", "/v1/check">) {
    return this.requests.ask("GET", "/v1/check", { query });
  }

  /** The configuration, passwords left out. */
  config() {
    return this.requests.ask("GET", "/v1/config");
  }

  /** The same value by value, with all that says something of it. */
  configs(query?: QueryOf<"GET", "/v1/configs">) {
    return this.requests.ask("GET", "/v1/configs", { query });
  }

  /** The APIs that are served, and Kafka's errors. */
  protocol() {
    return this.requests.ask("GET", "/v1/protocol");
  }

  /** Put a fresh broker in the place of this one, at the same addresses. */
  reset() {
    return this.requests.ask("POST", "/v1/reset");
  }
}

/** The control port of a stub: each part has the requests of one subject. */
export class Control {
  readonly requests: Requests;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly chaos: Chaos;
  readonly journal: Journal;
  readonly topics: Topics;
  readonly groups: Groups;
  readonly shareGroups: ShareGroups;
  readonly streamsGroups: StreamsGroups;
  readonly transactions: Transactions;
  readonly snapshots: Snapshots;
  readonly nodes: Nodes;
  readonly quotas: Quotas;
  readonly acls: Acls;
  readonly broker: Broker;

  /** Of a stub that runs already: `kafkastub serve --control-port`, a container, a proxy. */
  constructor(
    /** http://HOST:PORT; a browser sees the page there. */
    readonly controlUrl: string,
    token?: string,
  ) {
    const requests = new Requests(controlUrl, token);
    this.requests = requests;
    this.clock = new Clock(requests);
    this.faults = new Faults(requests);
    this.chaos = new Chaos(requests);
    this.journal = new Journal(requests);
    this.topics = new Topics(requests);
    this.groups = new Groups(requests);
    this.shareGroups = new ShareGroups(requests);
    this.streamsGroups = new StreamsGroups(requests);
    this.transactions = new Transactions(requests);
    this.snapshots = new Snapshots(requests);
    this.nodes = new Nodes(requests);
    this.quotas = new Quotas(requests);
    this.acls = new Acls(requests);
    this.broker = new Broker(requests);
  }
}

async function bytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

async function* lines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
