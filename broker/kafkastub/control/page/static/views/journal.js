// The journal: every request and its answer, live; one of them field by field beside its bytes.
import { del, get } from '../api.js';
import { listen } from '../events.js';
import { html, cx, useEffect, useMemo, useRef, useState } from '../lib.js';
import { useData } from '../parts/data.js';
import { Check, Late, Select, Toolbar } from '../parts/forms.js';
import { VirtualTable } from '../parts/table.js';
import { errorsOf, isGone, isUnanswered, outcomeText } from '../parts/entries.js';
import { WHEN_LEFT, useResting } from '../parts/resting.js';
import { timeText } from '../parts/time.js';
import { Button, Empty, Name, Page, confirm, number, toast } from '../parts/ui.js';
import { href, setQuery } from '../router.js';
import { Decoded } from './journal/decoded.js';
import { Filtered, Whole } from './journal/rows.js';

const FILTERS = ['api', 'client_id', 'group', 'topic', 'error', 'outcome', 'fault', 'transactional_id', 'member_id'];
const HEARTBEATS = ['Heartbeat', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'StreamsGroupHeartbeat'];
const OUTCOMES = ['reply', 'pending', 'no_reply', 'closed', 'refused', 'dropped'];

export default function Journal({ path, query }) {
  const open = path[0] === undefined ? null : Number(path[0]);
  const wanted = Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]));
  if (query.heartbeats === 'no') wanted.not_api = HEARTBEATS;
  const source = JSON.stringify(wanted);
  const filtered = source !== '{}';
  const rows = useMemo(() => (filtered ? new Filtered(get, wanted) : new Whole(get)), [source]);
  const live = query.live !== 'no';
  const [chosen, handlers] = useResting();
  const [atTop, setAtTop] = useState(true);
  const [version, newer, renew] = useNews(rows, live, chosen || !atTop);
  const here = (sequence) => href(...['journal', sequence === null ? null : String(sequence)].filter((one) => one !== null), query);
  return html`<${Page} title="Journal" note="Every request of Kafka's clients with its answer, the newest first. A bar at its left: amber, it met a fault (⚑); red, an error, or no answer"
    actions=${html`<${Actions} query=${query} wanted=${wanted} forget=${() => { rows.forget(); renew(); }} />`}>
    <${Filters} query=${query} />
    <div class=${cx('split', open !== null && 'open entry')}>
      <div ...${handlers}><${VirtualTable} label="Journal" load=${(offset, limit) => rows.load(offset, limit)} version=${version} source=${source} rowHeight=${28}
        href=${(row) => here(row.sequence)} selected=${(row) => row.sequence === open} rowTone=${tone} onTop=${setAtTop}
        empty=${html`<${Nothing} filtered=${filtered} />`} columns=${columns(open !== null)} />
        <p class="foot soft">${live ? restingText(newer, rows.most, chosen, atTop) : 'It is not live: what is new is not shown'}</p></div>
      ${open === null ? null : html`<${Decoded} key=${open} sequence=${open} close=${here(null)} />`}
    </div>
  <//>`;
}

const Nothing = ({ filtered }) => (filtered
  ? html`<${Empty} title="No request fits">Of those that the journal has. Take a filter away, or wait for the next one.<//>`
  : html`<${Empty} title="No requests yet">They are here as soon as a client of Kafka connects: the address for it is above.<//>`);

const tone = (row) => (row.fault ? 'warn' : failed(row) ? 'bad' : row.outcome === 'pending' || isGone(row) ? 'faded' : null);
const failed = (row) => isUnanswered(row) || errorsOf(row).length > 0;

function columns(isOpen) {
  return [
    { key: 'sequence', title: '#', width: '64px', align: 'end', render: (row) => number(row.sequence) },
    { key: 'time', title: 'Broker time', width: '96px', narrow: false, render: (row) => html`<time class="num" title=${row.broker_time}>${timeText(Date.parse(row.broker_time))}</time>` },
    ...(isOpen ? [] : [{ key: 'client_id', title: 'Client', width: 'minmax(80px, 1.2fr)', narrow: false,
      render: (row) => html`<${Name}>${row.client_id ?? row.peer}<//>` }]),
    { key: 'api', title: 'Request', width: 'minmax(min(46vw, 190px), 1.8fr)', render: (row) => (row.kind === 'clock' ? 'Clock moved' : html`${row.api} <span class="faint">v${row.api_version}</span>`) },
    { key: 'about', title: 'About', width: 'minmax(90px, 1.4fr)', narrow: false, render: (row) => html`<${Name}>${about(row)}<//>` },
    { key: 'result', title: 'Answer', width: 'minmax(80px, 2fr)', line: true, help: 'A bar at the left: amber, a fault was met; red, an error or no answer. ⚑ names the fault', render: (row) => html`<${Answer} row=${row} />` },
    { key: 'took', title: 'Took', width: '72px', align: 'end', narrow: false, render: (row) => (row.duration_us === null ? '' : `${(row.duration_us / 1000).toFixed(1)} ms`) },
  ];
}

function about(row) {
  if (row.kind === 'clock') return row.text.split('clock: ')[1] ?? '';
  const places = row.partitions.length ? row.partitions.map((one) => `${one.topic}-${one.partition}`) : row.topics;
  const named = [...row.groups.map((group) => `group ${group}`), ...row.transactions.map((one) => one.transactional_id).filter(Boolean), ...places.slice(0, 4)];
  return named.join(', ') + (places.length > 4 ? ` and ${places.length - 4} more` : '');
}

function Answer({ row }) {
  if (row.kind === 'clock') return '';
  const errors = errorsOf(row).map((error) => error.name);
  const said = errors.length ? errors.join(', ') : row.outcome === 'reply' ? 'ok' : outcomeText(row);
  const title = isGone(row) ? 'The client went away before the answer came: no fault took it' : row.outcome === 'dropped' ? `Fault ${row.fault} took the answer, or held it when the client went away` : said;
  return html`${row.fault ? html`<span class="warn" title=${`Fault ${row.fault}: ${said}`}>⚑ </span>` : null}<span class=${failed(row) ? 'bad' : row.outcome === 'pending' ? 'info' : isGone(row) ? 'soft' : ''} title=${title}>${said}</span>${
    row.throttle_time_ms > 0 ? html` <span class="warn" title="The answer's throttle_time_ms: a quota, or a fault">wait ${number(row.throttle_time_ms)} ms</span>` : null}${
    row.fault ? html` <span class="warn">${row.fault}</span>` : null}`;
}

function Filters({ query }) {
  const protocol = useData('/v1/protocol');
  const [more, setMore] = useState(FILTERS.slice(4).some((name) => query[name]));
  const apis = protocol.data?.apis.map((api) => api.name).sort() ?? (query.api ? [query.api] : []);
  const errors = protocol.data?.errors.map((error) => error.name) ?? (query.error ? [query.error] : []);
  const text = (name, label) => html`<${Late} label=${label} size="14" data-search=${name === 'client_id' ? true : undefined} value=${query[name]} onValue=${(value) => setQuery({ [name]: value })} />`;
  return html`<${Toolbar}>
    <${Select} label="API" value=${query.api ?? ''} onValue=${(api) => setQuery({ api })} options=${[['', 'All'], ...apis]} />
    ${text('client_id', 'Client id')}${text('group', 'Group')}${text('topic', 'Topic')}
    ${more ? html`<${Select} label="Error" value=${query.error ?? ''} onValue=${(error) => setQuery({ error })} options=${[['', 'Any'], ...errors]} />
      <${Select} label="Outcome" value=${query.outcome ?? ''} onValue=${(outcome) => setQuery({ outcome })} options=${[['', 'Any'], ...OUTCOMES]} />
      ${text('fault', 'Fault')}${text('transactional_id', 'Transactional id')}${text('member_id', 'Member id')}`
    : html`<${Button} tone="plain" onClick=${() => setMore(true)}>More filters<//>`}
    <${Check} label="Hide heartbeats" value=${query.heartbeats === 'no'} onValue=${(hide) => setQuery({ heartbeats: hide ? 'no' : null })} />
    ${FILTERS.some((name) => query[name]) ? html`<${Button} tone="plain" onClick=${() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}>Clear filters<//>` : null}
  <//>`;
}

function Actions({ query, wanted, forget }) {
  const clear = async () => {
    const sure = await confirm({ title: 'Forget all entries?', text: 'Sequence numbers go on. What clients do is not changed by it.', yes: 'Forget' });
    if (!sure) return;
    const { removed } = await del('/v1/journal');
    forget();
    toast(`${number(removed)} entries are forgotten`);
  };
  const { not_api: _, ...exported } = wanted;
  const file = new URLSearchParams({ format: 'jsonl', ...exported });
  return html`<${Check} label="Live" value=${query.live !== 'no'} onValue=${(live) => setQuery({ live: live ? null : 'no' })} />
    <a class="button" href=${`v1/journal/export?${file}`} download="journal.jsonl">Export<//>
    <${Button} changes onClick=${clear}>Clear<//>`;
}

function restingText(newer, most, chosen, atTop) {
  if (atTop && !chosen) return 'Live: the newest is at the top';
  const count = newer ? `${number(newer)}${newer >= most ? ' or more' : ''} newer` : 'It rests: what is newer is';
  return `${count}${newer ? ',' : ''} ${atTop ? WHEN_LEFT : 'shown at the top of the list'}`;
}

/**
 * [another number when there is something to show, how many are newer than what is shown, what begins anew]. While it `rests`,
 * rows stay where they are and what is newer is counted, not kept. What looking for it costs the broker is bounded: after a
 * look that took so long, nobody looks for nine times as long.
 */
function useNews(rows, live, rests) {
  const [version, setVersion] = useState(0);
  const [newer, setNewer] = useState(0);
  const now = useRef({ rests, left: false, soon: () => {} }).current; // left: something has come that is not shown
  now.rests = rests;
  useEffect(() => {
    setNewer(0);
    if (!live) return undefined;
    let timer = null;
    let ended = false;
    let wait = 300;
    const look = async () => {
      timer = null;
      const begun = performance.now();
      let count = 0;
      try {
        now.left = now.rests;
        if (now.rests) count = await rows.newer();
        else await rows.renew();
      } catch { // the list says it when it asks itself
      }
      wait = Math.max(now.rests ? 1000 : 300, 9 * (performance.now() - begun));
      if (ended) return;
      setNewer(count);
      if (!now.rests || rows.waits) setVersion((one) => one + 1);
    };
    now.soon = (ms = wait) => { timer ??= setTimeout(look, ms); };
    const stop = listen(['journal'], () => now.soon());
    return () => {
      ended = true;
      clearTimeout(timer);
      stop();
    };
  }, [rows, live]);
  useEffect(() => { if (!rests && now.left) now.soon(300); }, [rests]);
  const renew = () => {
    setNewer(0);
    setVersion((one) => one + 1);
  };
  return [version, newer, renew];
}
