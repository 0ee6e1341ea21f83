// Entries of the journal as rows, the newest first. A row keeps its number until the list is renewed.

const AT_ONCE = 200;
const MOST_KEPT = 20_000; // rows that fit, of a journal that is looked through
const MOST_NEW = 2000; // entries that are looked through for what is new

/** All entries: the place of one follows from its sequence number. */
export class Whole {
  constructor(get) {
    this.get = get;
    this.total = null;
  }

  async load(offset, limit) {
    if (this.total === null && offset > 0) await this.renew();
    const asked = this.total === null ? { limit } : { limit, before: Math.max(0, this.total - offset) };
    const page = await this.get('/v1/journal', asked);
    this.total ??= page.total;
    return { rows: page.entries.reverse(), total: Math.max(0, this.total - page.first) };
  }

  /** From now on what is newest comes first. */
  async renew() {
    this.total = (await this.get('/v1/journal', { limit: 1 })).total;
  }

  forget() { this.total = null; }
}

/** Those that fit: asked for one after the other, as far as somebody scrolls. */
export class Filtered {
  constructor(get, wanted) {
    this.get = get;
    this.wanted = wanted;
    this.forget();
  }

  forget() {
    this.rows = [];
    this.before = null; // where to go on
    this.total = 0; // all below it were looked at
    this.ended = false;
    this.going = null;
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
    const page = await this.get('/v1/journal', { ...this.wanted, limit: AT_ONCE, before: this.before });
    if (this.before === null) this.total = page.total;
    this.rows.push(...page.entries.reverse());
    this.before = page.entries.at(-1)?.sequence ?? 0;
    this.ended = page.entries.length < AT_ONCE || this.rows.length >= MOST_KEPT;
  }

  /** Put in front what has come since. */
  async renew() {
    if (this.before === null || this.going) return;
    const since = this.total;
    const page = await this.get('/v1/journal', { ...this.wanted, limit: AT_ONCE, since });
    if (page.total - since > MOST_NEW || page.entries.length === AT_ONCE || page.total < since) {
      this.forget();
      return;
    }
    this.total = page.total;
    this.rows.unshift(...page.entries.reverse());
  }
}
