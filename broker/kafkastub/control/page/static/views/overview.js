// What somebody sees first: what there is, what is out of order, what goes next, what was asked last.
import { get } from '../api.js';
import { Fragment, html, useEffect, useRef, useState } from '../lib.js';
import { useData, useVersion } from '../parts/data.js';
import { at, isGone, many, outcomeText } from '../parts/names.js';
import { useSummary } from '../parts/shell.js';
import { Table } from '../parts/table.js';
import { fromNow, spanText, timeText } from '../parts/time.js';
import { Badge, Code, Copy, Empty, Figures, Loaded, Name, Page, Section, bytesText, number } from '../parts/ui.js';
import { href } from '../router.js';

const MOST_ASKED = 6; // groups that are looked into
const SETTLED_MS = 4000; // so long a group has to be behind

export default function Overview() {
  const summary = useSummary();
  return html`<${Page} title="Overview"><${Loaded} of=${summary}>${(data) => html`
    <${Fragment}>
      <${Counts} data=${data} />
      ${data.records === 0 && data.groups === 0 ? html`<${Begin} data=${data} />` : null}
      <div class="overview">
        <div class="stack wide"><${Troubles} data=${data} /><${Latest} /></div>
        <div class="stack"><${Next} /><${Groups} data=${data} /></div>
      </div>
    <//>`}<//><//>`;
}

const Counts = ({ data }) => html`<${Figures} items=${[
  { title: 'Topics', value: number(data.topics), note: `${many(data.partitions, 'partition')}, internal ones included`, href: href('topics') },
  { title: 'Records', value: number(data.records), note: bytesText(data.size_bytes), href: href('topics', { sort: 'records' }) },
  { title: 'Groups', value: number(data.groups), note: many(data.offsets, 'offset'), href: href('groups') },
  { title: 'Transactions', value: number(data.open_transactions), note: `open, of ${many(data.transactions, 'id')}`, href: href('transactions') },
  { title: 'Nodes', value: `${data.nodes_running} of ${data.nodes}`, note: 'running', tone: data.nodes_running < data.nodes ? 'bad' : '', href: href('nodes') },
  { title: 'Connections', value: number(data.connections), note: data.requests === null ? 'no journal is kept' : many(data.requests, 'request'), href: href('journal') },
]} />`;

/** Nothing has happened yet. */
const Begin = ({ data }) => html`<${Section} title="Nothing has happened yet"><div class="card stack">
  <p>Give your clients this address. What they do is seen here at once.</p>
  <div class="row"><code>bootstrap.servers=${data.bootstrap_servers}</code><${Copy} text=${data.bootstrap_servers} /></div>
  <${Code}>${`echo 'hello' | kcat -b ${data.bootstrap_servers} -t orders -P\nkcat -b ${data.bootstrap_servers} -G shipping orders`}<//>
</div><//>`;

// -- what is out of order ----------------------------------------------------------------------------------------------

function Troubles({ data }) {
  const { stopped, behind, left, hanging, nodes } = useFindings();
  const down = data.nodes - data.nodes_running;
  const items = [
    down > 0 && { tone: 'bad', text: `${down} of ${data.nodes} nodes ${down === 1 ? 'is' : 'are'} stopped${named(nodes.down.map((node) => `node ${node}`))}`, href: href('nodes') },
    data.leaderless > 0 && { tone: 'bad', text: `${many(data.leaderless, 'partition has', 'partitions have')} no leader: nothing can be read or written there${named(nodes.leaderless.map((each) => `${each.topic}-${each.partition}`))}`, href: href('nodes') },
    ...stopped,
    hanging.length > 0 && { tone: 'warn', text: `${many(hanging.length, 'transaction hangs', 'transactions hang')}: readers of committed records get no further${named(hanging.map((each) => `${each.topic}-${each.partition}`))}`, href: href('transactions', 'hanging') },
    data.held > 0 && { tone: 'warn', text: `${many(data.held, 'request is', 'requests are')} held until somebody releases ${data.held === 1 ? 'it' : 'them'}`, href: href('faults') },
    data.faults > data.faults_spent && { tone: 'warn', text: `${many(data.faults - data.faults_spent, 'fault is', 'faults are')} set`, href: href('faults') },
    data.chaos && { tone: 'warn', text: 'Chaos is on: requests meet trouble by a seed', href: href('chaos') },
    ...behind,
    data.frozen && { tone: 'info', text: 'The clock stands still', href: href('clock') },
    left.length > 0 && { tone: 'quiet', text: `Nobody reads for ${many(left.length, 'group')} with records left: ${left.slice(0, 4).map((each) => each.group).join(', ')}${left.length > 4 ? ' …' : ''}`, href: href('groups', { state: 'Empty' }) },
  ].filter(Boolean);
  return html`<${Section} title="To look at" note="why a client may wait, or get nothing">
    ${items.length ? html`<ul class="list card">${items.map((item) => html`<li><a class="list-item" href=${item.href}>
      <span class=${`mark ${item.tone}`} aria-hidden="true"></span><span class=${`list-text ${item.tone === 'quiet' ? 'soft' : ''}`}>${item.group ? html`<b><${Name}>${item.group}<//></b> ` : null}<${Name}>${item.text}<//></span></a></li>`)}</ul>`
      : html`<div class="card soft">Nothing: every node runs, no fault is set, and no group lacks anything.</div>`}<//>`;
}

const NOTHING = { stopped: [], behind: [], left: [], hanging: [], nodes: { down: [], leaderless: [] } };

/** ` (orders-0, orders-1 …)` */
const named = (names) => (names.length ? ` (${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''})` : '');

/** The groups that are behind and have not come nearer for a while: every group that works is behind for moments. */
function settled(since, groups) {
  const now = performance.now();
  const late = new Map(groups.filter((group) => group.lag > 0).map((group) => [group.group, group.lag]));
  for (const name of since.keys()) if (!late.has(name)) since.delete(name);
  for (const [name, lag] of late) {
    const before = since.get(name);
    since.set(name, before && lag >= before.lag ? { at: before.at, lag } : { at: now, lag });
  }
  return new Set([...since].filter(([, each]) => now - each.at >= SETTLED_MS).map(([name]) => name));
}

/** Groups whose members get nothing, by what the broker sees of it; those that are behind; those that nobody reads for. */
function useFindings() {
  const version = useVersion(['groups', 'topics', 'nodes', 'faults', 'transactions'], 2000);
  const [found, setFound] = useState(NOTHING);
  const lateSince = useRef(new Map()).current;
  useEffect(() => {
    let ended = false;
    let timer = null;
    const look = async () => {
      const [{ groups }, { hanging }, { nodes, leaderless }] = await Promise.all([get('/v1/groups', { details: true, limit: 100 }), get('/v1/hanging-transactions'), get('/v1/nodes')]);
      const late = groups.filter((group) => group.lag > 0 || group.worst === 'stop' || !['Stable', 'Empty'].includes(group.state))
        .sort((one, other) => (other.worst === 'stop') - (one.worst === 'stop') || (other.lag ?? 0) - (one.lag ?? 0));
      const there = late.filter((group) => group.members > 0).slice(0, MOST_ASKED);
      const answers = await Promise.all(there.map((group) => get(`/v1/groups/${at(group.group)}/findings`).catch(() => ({ findings: [] }))));
      if (ended) return;
      const told = there.map((group, index) => ({ group, stop: answers[index].findings.find((each) => each.level === 'stop') }));
      const stays = settled(lateSince, groups);
      if (lateSince.size > stays.size) timer = setTimeout(tried, SETTLED_MS);
      const item = (group, tone, text) => ({ tone, group: group.group, text, href: href('groups', group.group) });
      setFound({
        stopped: told.filter((each) => each.stop).map((each) => item(each.group, 'bad', each.stop.sentence)),
        behind: told.filter((each) => !each.stop && stays.has(each.group.group)).map((each) => item(each.group, 'info', `is ${many(each.group.lag, 'record')} behind`)),
        left: late.filter((group) => group.members === 0),
        hanging,
        nodes: { down: nodes.filter((node) => !node.running).map((node) => node.node), leaderless },
      });
    };
    const tried = () => look().catch(() => {}); // what is shown stays as it was; the frame says that nobody answers
    tried();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [version]);
  return found;
}

// -- what goes next ----------------------------------------------------------------------------------------------------

function Next() {
  const forecast = useData('/v1/clock/forecast', { within: '8d', limit: 6, kind: ['offsets', 'transactional_id', 'records'] }, { subjects: ['groups', 'clock', 'topics'], quiet: true, least: 2000 });
  return html`<${Section} title="Expires next" note="within eight days of broker time" actions=${html`<a href=${href('clock')}>Forecast</a>`}>
    <${Loaded} of=${forecast}>${({ due, total, now_ms: now, offsets_retention_minutes: minutes }) => (due.length ? html`<ul class="list card">${due.map((each) => html`<li><a class="list-item"
        href=${each.group ? href('groups', each.group) : href('clock')}><span class="list-when num" title=${each.at}>${fromNow(each.at_ms, now)}</span>
        <span class="list-text"><${Name}>${each.what}<//><span class="list-why">${each.why}</span></span></a></li>`)}
        ${total > due.length ? html`<li class="list-more faint">and ${number(total - due.length)} more</li>` : null}</ul>`
      : html`<div class="card soft">Nothing. ${minutes < 0 ? 'Offsets are kept for ever here' : `Offsets of a group go ${spanText(minutes * 60_000)} after its last member has left`} (offsets.retention.minutes is ${number(minutes)}).</div>`)}<//><//>`;
}

function Groups({ data }) {
  if (!data.group_states.length) return null;
  return html`<${Section} title="Groups" actions=${html`<a href=${href('groups')}>All groups</a>`}><${Table} label="Groups by type and state" rows=${data.group_states}
    href=${(row) => href('groups', { type: row.type, state: row.state })}
    columns=${[{ key: 'type', title: 'Type' }, { key: 'state', title: 'State' },
      { key: 'count', title: 'Groups', align: 'end', render: (row) => number(row.count) }]} /><//>`;
}

// -- what was asked last -----------------------------------------------------------------------------------------------

function Latest() {
  const journal = useData('/v1/journal', { limit: 12 }, { subjects: ['journal'], quiet: true, least: 1000 });
  return html`<${Section} title="Latest requests" actions=${html`<a href=${href('journal')}>Journal</a>`}>
    <${Loaded} of=${journal}>${({ entries }) => html`<${Table} label="Latest requests" rows=${[...entries].reverse()} rowKey=${(row) => row.sequence}
      href=${(row) => href('journal', String(row.sequence))} empty=${html`<div class="card"><${Empty} title="No request has come yet" /></div>`}
      tight=${true} columns=${[
        { key: 'time', title: 'Time', render: (row) => html`<time title=${row.broker_time}>${timeText(Date.parse(row.broker_time))}</time>` },
        { key: 'api', title: 'Request', render: (row) => (row.kind === 'request' ? html`${row.api} <span class="faint">v${row.api_version}</span>` : html`<span class="info">${row.text.replace(/^\s*\d+\s+\S+\s+/, '')}</span>`) },
        { key: 'about', title: 'Client and subject', narrow: false, grow: true, render: (row) => html`<${Name}>${row.client_id ?? ''}<//> <span class="soft"><${Name}>${
          [...(row.groups ?? []), ...(row.topics ?? [])].slice(0, 3).join(', ')}<//></span>` },
        { key: 'answer', title: 'Answer', render: answer },
      ]} />`}<//><//>`;
}

function answer(row) {
  if (row.kind !== 'request') return '';
  if (row.outcome === 'pending') return html`<${Badge} tone="info">pending<//>`;
  if (row.outcome !== 'reply') return html`<${Badge} tone=${row.outcome === 'no_reply' || isGone(row) ? 'quiet' : 'bad'}>${outcomeText(row)}<//>`;
  const errors = (row.errors ?? []).filter((each) => each.code !== 0);
  if (errors.length) return html`<span class="bad">${errors[0].name}</span>`;
  return html`<span class="faint">${row.fault ? 'after a fault' : 'ok'}</span>`;
}

