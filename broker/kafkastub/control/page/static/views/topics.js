// Topics: all of them, one with its partitions and its configuration. Its records are in records.js.
import { del, get, post } from '../api.js';
import { html, useState } from '../lib.js';
import { ConfigTable } from '../parts/configs.js';
import { useData, useVersion } from '../parts/data.js';
import { Check, Form, Input, Search, Select, TextArea, Toolbar, useForm } from '../parts/forms.js';
import { at, many, pairs } from '../parts/names.js';
import { VirtualTable } from '../parts/table.js';
import {
  Badge, Button, Dialog, Empty, ErrorNote, KeyValues, Loaded, Name, Page, Tabs, bytesText, confirm, number, toast,
} from '../parts/ui.js';
import { go, href, setQuery } from '../router.js';
import { Produce, Records } from './records.js';

export default function Topics({ path, query }) {
  const [name, part = 'records'] = path;
  return name === undefined ? html`<${List} query=${query} />` : html`<${Topic} key=${name} name=${name} part=${part} query=${query} />`;
}

const SORTS = [['name', 'By name'], ['created', 'By age'], ['records', 'Most records'], ['size', 'Largest']];

function List({ query }) {
  const version = useVersion(['topics']);
  const [creating, setCreating] = useState(query.new !== undefined);
  const { search = '', sort = 'name' } = query;
  const internal = query.internal !== undefined;
  const load = async (offset, limit) => {
    const page = await get('/v1/topics', { offset, limit, search, sort, internal: internal ? null : false });
    return { rows: page.topics, total: page.total };
  };
  return html`<${Page} title="Topics" actions=${html`<${Button} tone="primary" onClick=${() => setCreating(true)}>Create a topic<//>`}>
    <${Toolbar}>
      <${Search} label="Search topics" value=${search} onValue=${(value) => setQuery({ search: value })} />
      <${Select} label="Order" hideLabel=${true} value=${sort} options=${SORTS} onValue=${(value) => setQuery({ sort: value === 'name' ? null : value })} />
      <${Check} label="Internal topics" value=${internal} onValue=${(value) => setQuery({ internal: value ? 1 : null })} />
    <//>
    <div class="section fill"><${VirtualTable} label="Topics" load=${load} version=${version} source=${`${search} ${sort} ${internal}`}
      href=${(row) => href('topics', row.name)}
      empty=${search ? html`<${Empty} title="No topic has this in its name">Names are compared without regard to capital letters.<//>`
        : html`<${Empty} title="There are no topics">Create one here, or let a client do it.<//>`}
      columns=${[
        { key: 'name', title: 'Topic', width: 'minmax(140px, 3fr)', render: (row) => html`<${Name}>${row.name}<//>${row.internal ? html` <${Badge}>internal<//>` : null}` },
        { key: 'partitions', title: 'Partitions', width: '80px', align: 'end', render: (row) => number(row.partitions) },
        { key: 'replication_factor', title: 'Replicas', width: '80px', align: 'end', narrow: false },
        { key: 'records', title: 'Records', width: '100px', align: 'end', render: (row) => number(row.records), help: 'Offsets from the start to the end of its partitions' },
        { key: 'size', title: 'Size', width: '90px', align: 'end', narrow: false, render: (row) => bytesText(row.size_bytes) },
        { key: 'configs', title: 'Own configuration', width: 'minmax(120px, 2fr)', narrow: false, render: (row) => html`<span class="soft mono">${
          Object.entries(row.configs).map(([key, value]) => `${key}=${value}`).join('  ')}</span>` },
      ]} /></div>
    ${creating ? html`<${Create} onClose=${() => { setCreating(false); setQuery({ new: null }); }} />` : null}
  <//>`;
}

function Create({ onClose }) {
  const form = useForm({ name: '', partitions: '', replicas: '', configs: '' });
  const [error, setError] = useState(null);
  const create = async () => {
    const { name, partitions, replicas, configs } = form.values;
    try {
      await post('/v1/topics', {
        name,
        partitions: partitions === '' ? -1 : Number(partitions),
        replication_factor: replicas === '' ? -1 : Number(replicas),
        configs: pairs(configs, '='),
      });
    } catch (problem) {
      setError(problem);
      return;
    }
    toast(`Topic ${name} is there`);
    go(href('topics', name));
  };
  return html`<${Dialog} title="Create a topic" onClose=${onClose}><${Form} onSubmit=${create}>
    <${ErrorNote} error=${error} />
    <${Input} label="Name" ...${form.field('name')} required=${true} />
    <div class="form-row">
      <${Input} label="Partitions" type="number" min="1" placeholder="as the broker has it" grow=${true} ...${form.field('partitions')} />
      <${Input} label="Replication factor" type="number" min="1" placeholder="as the broker has it" grow=${true} ...${form.field('replicas')} />
    </div>
    <${TextArea} label="Configuration" help="One a line, for example retention.ms=3600000" rows=${3} ...${form.field('configs')} />
    <div class="dialog-foot"><${Button} onClick=${onClose}>Cancel<//><${Button} tone="primary" type="submit" disabled=${!form.values.name}>Create<//></div>
  <//><//>`;
}

function Topic({ name, part, query }) {
  const topic = useData(`/v1/topics/${at(name)}`, { limit: 1000 }, { subjects: ['topics', 'nodes'] });
  const [producing, setProducing] = useState(false);
  const remove = async () => {
    const sure = await confirm({ title: `Delete ${name}?`, text: 'Its records go, and what groups have committed on it.', yes: 'Delete', tone: 'danger' });
    if (!sure) return;
    await del(`/v1/topics/${at(name)}`);
    toast(`Topic ${name} is deleted`);
    go(href('topics'));
  };
  const actions = topic.data && !topic.data.internal ? html`
    <${Button} onClick=${() => setProducing(true)}>Write a record<//><${Button} tone="danger" onClick=${remove}>Delete<//>` : null;
  return html`<${Page} title=${html`<${Name}>${name}<//>`} documentTitle=${name} crumbs=${[{ title: 'Topics', href: href('topics') }]} actions=${actions}
    note=${topic.data ? [many(topic.data.partitions, 'partition'), many(topic.data.records, 'record'),
      bytesText(topic.data.size_bytes), topic.data.internal && 'written by the broker itself'].filter(Boolean).join(' · ') : null}>
    <${Tabs} label="Parts of the topic" current=${part} items=${[
      { id: 'records', title: 'Records', href: href('topics', name) },
      { id: 'partitions', title: 'Partitions', href: href('topics', name, 'partitions') },
      { id: 'config', title: 'Configuration', href: href('topics', name, 'config') },
    ]} />
    <${Loaded} of=${topic}>${(data) => (
      part === 'partitions' ? html`<${Partitions} name=${name} />`
        : part === 'config' ? html`<${Config} name=${name} topic=${data} query=${query} />`
          : html`<${Records} topic=${data} query=${query} />`)}<//>
    ${producing ? html`<${Produce} topic=${topic.data} onClose=${() => setProducing(false)} />` : null}
  <//>`;
}

function Partitions({ name }) {
  const version = useVersion(['topics', 'nodes']);
  const load = async (offset, limit) => {
    const page = await get(`/v1/topics/${at(name)}`, { offset, limit });
    return { rows: page.partition_list, total: page.partitions };
  };
  const leader = (row) => (row.leader < 0 ? html`<${Badge} tone="bad">none<//>` : html`<a href=${href('nodes')}>${row.leader}</a>`);
  const isr = (row) => {
    const missing = row.replicas.filter((node) => !row.isr.includes(node));
    return html`${row.isr.join(', ')}${missing.length ? html` <${Badge} tone="warn">${missing.join(', ')} out<//>` : null}`;
  };
  return html`<div class="section fill"><${VirtualTable} label="Partitions" load=${load} version=${version} source=${name}
    href=${(row) => href('topics', name, { partition: row.partition })}
    columns=${[
      { key: 'partition', title: 'Partition', width: '80px' },
      { key: 'leader', title: 'Leader', width: '80px', render: leader },
      { key: 'replicas', title: 'Replicas', width: 'minmax(80px, 1fr)', narrow: false, render: (row) => row.replicas.join(', ') },
      { key: 'isr', title: 'In sync', width: 'minmax(80px, 1fr)', render: isr },
      { key: 'leader_epoch', title: 'Leader epoch', width: '100px', align: 'end', narrow: false },
      { key: 'start', title: 'Start', width: '100px', align: 'end', render: (row) => number(Math.max(0, row.log_start_offset)) },
      { key: 'end', title: 'End', width: '100px', align: 'end', render: (row) => number(Math.max(0, row.log_end_offset)) },
      { key: 'stable', title: 'Last stable', width: '100px', align: 'end', narrow: false, help: 'What read_committed consumers see ends here',
        render: (row) => (row.last_stable_offset < row.log_end_offset ? html`<span class="warn">${number(row.last_stable_offset)}</span>` : number(Math.max(0, row.last_stable_offset))) },
      { key: 'size', title: 'Size', width: '90px', align: 'end', narrow: false, render: (row) => bytesText(row.size_bytes) },
    ]} /></div>`;
}

function Config({ name, topic, query }) {
  return html`<${KeyValues} items=${[['Topic id', html`<span class="mono">${topic.topic_id}</span>`], ['Replication factor', topic.replication_factor]]} />
    <${ConfigTable} params=${{ topic: name }} query=${query} />`;
}
