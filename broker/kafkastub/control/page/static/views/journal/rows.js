// Entries of the journal as rows, the newest first. A row keeps its number until the list is renewed.

const AT_ONCE = 200;
const MOST_KEPT = 20_000; // rows that fit, of a journal that is looked through
const MOST_RENEWED = 1000; // rows of these, once something new stands in front: those below are asked for anew
const MOST_NEW = 2000; // entries that are looked through for what is new, and for what waits
const MOST_OPEN = 40; // entries without an answer that are asked for again
const OF_ANSWERS = ['outcome', 'error', 'fault']; // an entry without an answer may come to fit these

/** All entries: the place of one follows from its sequence number. */
export class Whole {
  constructor(get) {
    this.get = get;
    this.total = null;
    this.most = Infinity;
    this.waits = false; // whether an answer may come to rows that are shown
  }

  async load(offset, limit) {
    if (this.total === null && offset > 0) await this.renew();
    const asked = this.total === null ? { limit } : { limit, before: Math.max(0, this.total - offset) };
    const page = await this.get('/v1/journal', asked);
    this.total ??= page.total;
    this.waits = page.entries.some((each) => each.outcome === 'pending');
    return { rows: page.entries.reverse(), total: Math.max(0, this.total - page.first) };
  }

  /** From now on what is newest comes first. */
  async renew() {
    this.total = (await this.get('/v1/journal', { limit: 1 })).total;
  }

  /** How many have come since. */
  async newer() {
    const { total } = await this.get('/v1/journal', { limit: 1 });
    return this.total === null ? 0 : Math.max(0, total - this.total);
  }

  forget() { this.total = null; }
}

/** Those that fit: asked for one after the other, as far as somebody scrolls. */
export class Filtered {
  constructor(get, wanted) {
    this.get = get;
    this.wanted = wanted;
    this.most = AT_ONCE;
    this.waits = false; // they are renewed all together
    this.forget();
  }

  forget() {
    this.rows = [];
    this.before = null; // where to go on
    this.total = 0; // all below it were looked at
    this.open = new Set(); // those that had no answer then
    this.ended = false;
    this.going = null;
    this.counted = null;
  }

  async load(offset, limit) {
    while (!this.ended && this.rows.length < offset + limit) {
      this.going ??= this.older().finally(() => { this.going = null; });
      await this.going;
    }
    const more = this.ended ? 0 : AT_ONCE;
    return { rows: this.rows.slice(offset, offset + limit), total: this.rows.length + more };
  }

  async older() {
    const first = this.before === null;
    if (first) await this.look();
    const page = await this.get('/v1/journal', { ...this.wanted, limit: AT_ONCE, before: this.before });
    this.rows.push(...page.entries.reverse());
    this.before = page.entries.at(-1)?.sequence ?? 0;
    this.ended = page.entries.length < AT_ONCE || this.rows.length >= MOST_KEPT;
  }

  /** Which have no answer yet, of those that may fit once they have one. */
  async look() {
    const waiting = { ...this.wanted, outcome: 'pending', limit: MOST_OPEN };
    OF_ANSWERS.slice(1).forEach((name) => delete waiting[name]);
    const { total } = await this.get('/v1/journal', { limit: 1 });
    const { entries } = await this.get('/v1/journal', { ...waiting, since: Math.max(0, total - MOST_NEW), before: total });
    this.open = new Set(entries.map((each) => each.sequence));
    this.total = total; // what comes from here on is asked for next time
  }

  /** How many that fit have come since, `most` at most; what was counted is not looked at again. */
  async newer() {
    if (this.before === null) return 0;
    if (this.counted?.since !== this.total) this.counted = { since: this.total, next: this.total, count: 0 };
    const counted = this.counted;
    if (counted.count < this.most) {
      const { entries, next } = await this.get('/v1/journal', { ...this.wanted, limit: AT_ONCE, since: counted.next });
      counted.next = next;
      counted.count = Math.min(this.most, counted.count + entries.length);
    }
    return counted.count;
  }

  /** Put in front what has come since, and in its place what has been answered since. */
  async renew() {
    if (this.before === null || this.going) return;
    const since = this.total;
    const shown = this.rows.filter((row) => row.outcome === 'pending').slice(0, MOST_OPEN).map((row) => row.sequence);
    const open = [...new Set([...this.open, ...shown])];
    await this.look();
    const page = await this.get('/v1/journal', { ...this.wanted, limit: AT_ONCE, since });
    if (page.total - since > MOST_NEW || page.entries.length === AT_ONCE || page.total < since) {
      this.forget();
      return;
    }
    const answered = open.filter((sequence) => !this.open.has(sequence) && sequence < page.total);
    const pages = await Promise.all(answered.map((sequence) => this.get('/v1/journal', { ...this.wanted, limit: 1, since: sequence, before: sequence + 1 })));
    const fresh = [...page.entries, ...pages.flatMap((each) => each.entries)];
    const gone = new Set([...answered, ...fresh.map((each) => each.sequence)]);
    const there = new Map(fresh.filter((each) => this.ended || each.sequence >= this.before).map((each) => [each.sequence, each]));
    this.rows = [...this.rows.filter((row) => !gone.has(row.sequence)), ...there.values()].sort((one, other) => other.sequence - one.sequence);
    if (this.rows.length > MOST_RENEWED && !this.going) {
      this.rows.length = MOST_RENEWED;
      this.before = this.rows.at(-1).sequence;
      this.ended = false;
    }
  }
}
