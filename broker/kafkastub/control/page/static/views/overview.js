// What somebody sees first: what there is, what is out of order, what goes next, what was asked last.
import { Fragment, html, useRef } from '../lib.js';
import { useData } from '../parts/data.js';
import { many } from '../parts/names.js';
import { Requests } from '../parts/requests.js';
import { WHEN_LEFT, useResting } from '../parts/resting.js';
import { useSummary } from '../parts/shell.js';
import { Table } from '../parts/table.js';
import { fromNow, spanText } from '../parts/time.js';
import { Code, Copy, Empty, Figures, Loaded, Name, Page, Section, bytesText, number } from '../parts/ui.js';
import { href } from '../router.js';
import { useFindings } from './overview/findings.js';
import { Troubles } from './overview/troubles.js';

export default function Overview() {
  const summary = useSummary();
  const findings = useFindings(summary.data?.requests ?? null);
  return html`<${Page} title="Overview"><${Loaded} of=${summary}>${(data) => html`
    <${Fragment}>
      <${Counts} data=${data} hanging=${findings.hanging.length} />
      ${data.records === 0 && data.groups === 0 ? html`<${Begin} data=${data} />` : null}
      <div class="overview">
        <div class="stack wide"><${Troubles} data=${data} findings=${findings} /><${Latest} /></div>
        <div class="stack"><${Next} /><${Groups} data=${data} /></div>
      </div>
    <//>`}<//><//>`;
}

const Counts = ({ data, hanging }) => html`<${Figures} items=${[
  { title: 'Topics', value: number(data.topics), note: `${many(data.partitions, 'partition')}, internal ones included`, href: href('topics') },
  { title: 'Records', value: number(data.records), note: bytesText(data.size_bytes), href: href('topics', { sort: 'records' }) },
  { title: 'Groups', value: number(data.groups), note: many(data.offsets, 'offset'), href: href('groups') },
  { title: 'Transactions', value: number(data.open_transactions), tone: hanging ? 'warn' : '',
    note: `open, of ${many(data.transactions, 'id')}${hanging ? `; ${many(hanging, 'hangs', 'hang')}` : ''}`, href: hanging ? href('transactions', 'hanging') : href('transactions') },
  { title: 'Nodes', value: `${data.nodes_running} of ${data.nodes}`, note: 'running', tone: data.nodes_running < data.nodes ? 'bad' : '', href: href('nodes') },
  { title: 'Connections', value: number(data.connections), note: data.requests === null ? 'no journal is kept' : many(data.requests, 'request'), href: href('journal') },
]} />`;

/** Nothing has happened yet. */
const Begin = ({ data }) => html`<${Section} title="Nothing has happened yet"><div class="card stack">
  <p>Give your clients this address. What they do is seen here at once.</p>
  <div class="row"><code>bootstrap.servers=${data.bootstrap_servers}</code><${Copy} text=${data.bootstrap_servers} /></div>
  <${Code}>${`echo 'hello' | kcat -b ${data.bootstrap_servers} -t orders -P\nkcat -b ${data.bootstrap_servers} -G shipping orders`}<//>
</div><//>`;

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

/** It rests while somebody is in it: then only answers come to the rows that are there. */
function Latest() {
  const journal = useData('/v1/journal', { limit: 12 }, { subjects: ['journal'], quiet: true, least: 1000 });
  const [rests, handlers] = useResting();
  const kept = useRef(null);
  if (!rests || kept.current === null) kept.current = journal.data;
  const newer = journal.data && kept.current ? Math.max(0, journal.data.total - kept.current.total) : 0;
  return html`<${Section} title="Latest requests" actions=${html`<a href=${href('journal')}>Journal</a>`}>
    <${Loaded} of=${journal}>${({ entries }) => html`<div ...${handlers}><${Requests} label="Latest requests" entries=${answered(kept.current?.entries ?? entries, entries)}
      empty=${html`<div class="card"><${Empty} title="No request has come yet" /></div>`} /></div>`}<//>
    ${newer ? html`<p class="foot soft">${number(newer)} newer, ${WHEN_LEFT}</p>` : null}<//>`;
}

/** The newest first, as they are now. */
function answered(entries, now) {
  const known = new Map(now.map((each) => [each.sequence, each]));
  return entries.map((each) => known.get(each.sequence) ?? each).reverse();
}
