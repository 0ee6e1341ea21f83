// Transactions: transactional ids, one of them, and those that hang.
import { get, post } from '../api.js';
import { html } from '../lib.js';
import { useData, useVersion } from '../parts/data.js';
import { Form, Input, Search, Select, Toolbar, useForm } from '../parts/forms.js';
import { at, partitionsText } from '../parts/names.js';
import { Table, VirtualTable } from '../parts/table.js';
import { Moment, fromNow, spanText, useClock } from '../parts/time.js';
import { Badge, Button, Empty, Figures, LinkButton, Loaded, Name, Page, Section, Tabs, confirm, number, toast } from '../parts/ui.js';
import { href, setQuery } from '../router.js';

const STATES = ['Empty', 'Ongoing', 'PrepareCommit', 'PrepareAbort', 'CompleteCommit', 'CompleteAbort'];
const TONES = { Ongoing: 'info', PrepareCommit: 'warn', PrepareAbort: 'warn', CompleteCommit: 'good', CompleteAbort: 'bad' };
const SUBJECTS = ['transactions', 'topics'];

const StateBadge = ({ state }) => html`<${Badge} tone=${TONES[state] ?? 'quiet'}>${state}<//>`;

export default function Transactions({ path, query }) {
  if (path[0] === 'hanging' && path.length === 1) return html`<${Hanging} query=${query} />`;
  if (path.length) return html`<${One} key=${path[0]} id=${path[0]} />`;
  return html`<${List} query=${query} />`;
}

const TABS = () => [
  { id: 'all', title: 'Transactional ids', href: href('transactions') },
  { id: 'hanging', title: 'Hanging transactions', href: href('transactions', 'hanging') },
];

function List({ query }) {
  const version = useVersion(SUBJECTS);
  const clock = useClock();
  const asked = { search: query.search, state: query.state };
  const load = async (offset, limit) => {
    const page = await get('/v1/transactions', { ...asked, offset, limit });
    return { rows: page.transactions, total: page.total };
  };
  const filtered = asked.search || asked.state;
  return html`<${Page} title="Transactions">
    <${Tabs} items=${TABS()} current="all" label="Kinds" />
    <${Toolbar}>
      <${Search} label="Search transactional ids" value=${query.search} onValue=${(search) => setQuery({ search })} />
      <${Select} label="State" hideLabel value=${query.state ?? ''} onValue=${(state) => setQuery({ state })} options=${[['', 'All states'], ...STATES]} />
    <//>
    <div class="section fill"><${VirtualTable} label="Transactional ids" load=${load} version=${version} source=${JSON.stringify(asked)}
      href=${(row) => href('transactions', row.transactional_id)}
      empty=${filtered ? html`<${Empty} title="No transactional id fits">Change what is looked for.<//>`
        : html`<${Empty} title="No transactional ids">One is there once a producer with a transactional.id has begun.<//>`}
      columns=${[
        { key: 'transactional_id', title: 'Transactional id', width: 'minmax(120px, 2fr)', render: (row) => html`<${Name}>${row.transactional_id}<//>` },
        { key: 'state', title: 'State', width: '170px', render: (row) => html`<${StateBadge} state=${row.state} />${row.held ? html` <${Badge} tone="warn">held<//>` : null}` },
        { key: 'producer_id', title: 'Producer', width: '90px', align: 'end', narrow: false, render: (row) => `${row.producer_id}/${row.producer_epoch}` },
        { key: 'start', title: 'Began', width: '130px', narrow: false, render: (row) => (row.start && clock.known ? html`<span title=${row.start}>${fromNow(Date.parse(row.start), clock.now())}</span>` : '–') },
        { key: 'partitions', title: 'Partitions without a marker', width: 'minmax(100px, 2fr)', narrow: false, render: (row) => html`<${Name}>${partitionsText(row.partitions) || '–'}<//>` },
      ]} /></div>
  <//>`;
}

function One({ id }) {
  const path = `/v1/transactions/${at(id)}`;
  const found = useData(path, {}, { subjects: SUBJECTS });
  const clock = useClock();
  const act = (what, done) => async () => {
    await post(`${path}/${what}`);
    await found.reload();
    toast(done);
  };
  const abort = async () => {
    const sure = await confirm({ title: `Abort the transaction of ${id}?`, text: 'As its timeout would: the producer is fenced.', yes: 'Abort', tone: 'danger' });
    if (sure) await act('abort', 'It is aborted')();
  };
  const actions = found.data ? html`
    <${LinkButton} href=${href('journal', { transactional_id: id })}>Its requests<//>
    ${found.data.held ? html`<${Button} tone="primary" onClick=${act('release', 'Its markers are written')}>Release markers<//>`
      : html`<${Button} onClick=${act('hold', 'Its markers are held from now on')} title="Commits and aborts are decided, and their markers are not written">Hold markers<//>`}
    ${found.data.state === 'Ongoing' ? html`<${Button} tone="danger" onClick=${abort}>Abort<//>` : null}` : null;
  return html`<${Page} title=${id} crumbs=${[{ title: 'Transactions', href: href('transactions') }]} actions=${actions}>
    <${Loaded} of=${found}>${(data) => html`
      <${Figures} items=${[
        { title: 'State', value: html`<${StateBadge} state=${data.state} />`, note: MEANS[data.state] },
        { title: 'Producer id', value: number(data.producer_id), note: `epoch ${data.producer_epoch}` },
        { title: 'Began', value: data.start && clock.known ? fromNow(Date.parse(data.start), clock.now()) : '–', note: data.start ?? 'no transaction so far' },
        { title: 'Timeout', value: spanText(data.timeout_ms), note: 'of an open transaction' },
      ]} />
      <${Section} title="Partitions" note="Of its transaction, those that have no marker yet">
        <${Table} label="Partitions" rows=${data.partitions} rowKey=${(row) => `${row.topic}-${row.partition}`}
          empty=${html`<div class="card"><${Empty} title="No partition waits">Nothing is open: every partition of its last transaction has its marker.<//></div>`}
          columns=${[
            { key: 'topic', title: 'Partition', render: (row) => html`<a href=${href('topics', row.topic, 'records', { partition: row.partition })}><${Name}>${row.topic}-${row.partition}<//></a>` },
            { key: 'marker', title: 'Marker', render: (row) => (data.pending_markers.some((one) => one.topic === row.topic && one.partition === row.partition)
              ? html`<${Badge} tone="warn">${data.held ? 'held' : 'under way'}<//>` : html`<span class="soft">not decided</span>`) },
          ]} /><//>
      ${data.held ? html`<p class="hint warn">Its markers are held: readers of committed records wait at the beginning of its transaction until they are released.</p>` : null}`}<//>
  <//>`;
}

const MEANS = {
  Empty: 'no transaction so far', Ongoing: 'records are being added', PrepareCommit: 'committed, markers are being written',
  PrepareAbort: 'aborted, markers are being written', CompleteCommit: 'the last one was committed', CompleteAbort: 'the last one was aborted',
};

function Hanging({ query }) {
  const found = useData('/v1/hanging-transactions', {}, { subjects: SUBJECTS });
  const form = useForm({ topic: query.topic ?? '', partition: '0' });
  const end = (row) => async () => {
    const sure = await confirm({
      title: `Abort the transaction in ${row.topic}-${row.partition}?`, yes: 'Abort', tone: 'danger',
      text: 'Readers of committed records never see its records. Its producer is not told.',
    });
    if (!sure) return;
    await post('/v1/hanging-transactions/abort', { topic: row.topic, partition: row.partition, start_offset: row.start_offset });
    await found.reload();
    toast('It is aborted');
  };
  const make = async () => {
    try {
      await post('/v1/hanging-transactions', { topic: form.values.topic, partition: Number(form.values.partition) });
      await found.reload();
      toast('A transaction hangs there now');
    } catch (error) {
      toast(error.message, 'bad');
    }
  };
  return html`<${Page} title="Transactions">
    <${Tabs} items=${TABS()} current="hanging" label="Kinds" />
    <${Section} title="Hanging transactions" note="Open in a partition, and no coordinator is going to end them (KIP-664): readers of committed records get no further">
      <${Loaded} of=${found}>${(data) => html`<${Table} label="Hanging transactions" rows=${data.hanging} rowKey=${(row) => `${row.topic}-${row.partition}-${row.start_offset}`}
        empty=${html`<div class="card"><${Empty} title="None hangs">Make one below to see what readers of committed records do then.<//></div>`}
        columns=${[
          { key: 'topic', title: 'Partition', render: (row) => html`<a href=${href('topics', row.topic, 'records', { partition: row.partition, offset: row.start_offset })}><${Name}>${row.topic}-${row.partition}<//></a>` },
          { key: 'start_offset', title: 'From offset', align: 'end', render: (row) => number(row.start_offset) },
          { key: 'producer_id', title: 'Producer', align: 'end', render: (row) => `${row.producer_id}/${row.producer_epoch}` },
          { key: 'last_timestamp', title: 'Last record', narrow: false, render: (row) => (row.last_timestamp ? html`<${Moment} ms=${Date.parse(row.last_timestamp)} />` : '–') },
          { key: 'actions', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<${Button} tone="small danger" onClick=${end(row)} label=${`Abort the one in ${row.topic}-${row.partition}`}>Abort<//>` },
        ]} />`}<//><//>
    <${Section} title="Make one"><div class="card"><${Form} row onSubmit=${make} label="Make a hanging transaction">
      <${Input} label="Topic" ...${form.field('topic')} /><${Input} label="Partition" inputmode="numeric" size="5" ...${form.field('partition')} />
      <${Button} type="submit" disabled=${!form.values.topic}>Let one hang<//><//></div><//>
  <//>`;
}

