// The nodes of the cluster: stop one, let it come back, say who leads what.
import { post } from '../api.js';
import { html, useState } from '../lib.js';
import { useData } from '../parts/data.js';
import { Form, Input, Select, useForm } from '../parts/forms.js';
import { Table } from '../parts/table.js';
import { Badge, Bar, Button, ErrorNote, Figures, Loaded, Name, Page, Section, confirm, number, toast } from '../parts/ui.js';
import { useSummary } from '../parts/shell.js';
import { href } from '../router.js';

export default function Nodes() {
  const nodes = useData('/v1/nodes', {}, { subjects: ['nodes', 'topics'] });
  const summary = useSummary();
  const add = async () => {
    const { node } = await post('/v1/nodes', {});
    toast(`Node ${node} is there; new partitions may get replicas on it`);
    await nodes.reload();
  };
  return html`<${Page} title="Nodes" actions=${html`<${Button} only="nodes/" onClick=${add}>Add a node<//>`}
    note="Clients of a stopped node lose their connections, and find the next leader as they would with Kafka.">
    ${summary.data ? html`<${Figures} items=${[
      { title: 'Running', value: `${summary.data.nodes_running} of ${summary.data.nodes}`, tone: summary.data.nodes_running < summary.data.nodes ? 'bad' : '' },
      { title: 'Partitions', value: number(summary.data.partitions), note: 'internal ones too' },
      { title: 'Without a leader', value: number(summary.data.leaderless), tone: summary.data.leaderless ? 'bad' : '' },
      { title: 'Connections', value: number(summary.data.connections) },
    ]} />` : null}
    <${Loaded} of=${nodes}>${({ nodes: all, leaderless }) => html`<${List} nodes=${all} reload=${nodes.reload} />
      ${leaderless.length ? html`<${Leaderless} partitions=${leaderless} />` : null}
      <div class="columns"><${Leader} nodes=${all} /><${Coordinator} nodes=${all} /></div>`}<//>
  <//>`;
}

function List({ nodes, reload }) {
  const most = Math.max(1, ...nodes.map((node) => node.leads));
  const running = nodes.filter((node) => node.running).length;
  const turn = async (node) => {
    if (node.running && running === 1) {
      const sure = await confirm({ title: `Stop node ${node.node}?`, text: 'It is the only one that runs: no client gets an answer until a node is started here.', yes: 'Stop', tone: 'danger' });
      if (!sure) return;
    }
    await post(`/v1/nodes/${node.node}/${node.running ? 'stop' : 'start'}`);
    toast(node.running ? `Node ${node.node} is stopped` : `Node ${node.node} is back on its ports`);
    await reload();
  };
  return html`<${Table} label="Nodes" rows=${nodes} rowKey=${(row) => row.node} columns=${[
    { key: 'node', title: 'Node', render: (row) => html`<b>${row.node}</b>` },
    { key: 'running', title: 'State', render: (row) => (row.running ? html`<${Badge} tone="good">running<//>` : html`<${Badge} tone="bad">stopped<//>`) },
    { key: 'leads', title: 'Leads', align: 'end', render: (row) => number(row.leads) },
    { key: 'share', title: html`<span class="unseen">Share</span>`, narrow: false, render: (row) => html`<span class="info share"><${Bar} value=${row.leads} most=${most} text=${`leads ${row.leads} partitions`} /></span>` },
    { key: 'advertised', title: 'What clients are told', narrow: false, render: (row) => Object.entries(row.advertised).map(([name, told]) => html`<div class="mono">${
      Object.keys(row.advertised).length > 1 || name !== 'PLAINTEXT' ? html`<span class="faint">${name} </span>` : null}${told}</div>`) },
    { key: 'rack', title: 'Rack', narrow: false, render: (row) => row.rack ?? html`<span class="faint">none</span>` },
    { key: 'act', title: html`<span class="unseen">Act</span>`, align: 'end', render: (row) => html`<${Button} only="nodes/" tone="small" label=${`${row.running ? 'Stop' : 'Start'} node ${row.node}`} onClick=${() => turn(row)}>${
      row.running ? 'Stop' : 'Start'}<//>` },
  ]} />`;
}

/** What cannot be read or written, and who has to come back for it. */
const Leaderless = ({ partitions }) => html`<${Section} title="Without a leader" note=${partitions.length === 100 ? 'the first 100' : 'nothing can be read or written there'}>
  <${Table} label="Partitions without a leader" rows=${partitions} rowKey=${(row) => `${row.topic}-${row.partition}`} columns=${[
    { key: 'partition', title: 'Partition', render: (row) => html`<a href=${href('topics', row.topic)}><${Name}>${`${row.topic}-${row.partition}`}<//></a>` },
    { key: 'nodes', title: 'Has a leader again once', render: (row) => (row.nodes.length ? `node ${row.nodes.join(' or ')} is started` : 'a node is started') },
  ]} /><//>`;

function choices(nodes) {
  const running = nodes.filter((node) => node.running).map((node) => [String(node.node), `Node ${node.node}`]);
  return running.length ? running : [['', 'none runs']];
}

function Leader({ nodes }) {
  const [error, setError] = useState(null);
  const form = useForm({ topic: '', partition: '0', node: choices(nodes)[0]?.[0] ?? '' });
  const lead = async () => {
    const { topic, partition, node } = form.values;
    try {
      const { node: now } = await post('/v1/leaders', { topic, partition: Number(partition), node: Number(node) });
      toast(`Node ${now} leads ${topic}-${partition}`);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Section} title="Let a node lead a partition" note=${html`who leads now stands at each <a href=${href('topics')}>topic</a>`}><div class="card">
    <${Form} onSubmit=${lead}><${ErrorNote} error=${error} />
      <div class="form-row"><${Input} label="Topic" grow=${true} list="topic-names" ...${form.field('topic')} /><${Topics} />
        <${Input} label="Partition" type="number" min="0" ...${form.field('partition')} />
        <${Select} label="Node" options=${choices(nodes)} ...${form.field('node')} />
        <${Button} only="leaders" type="submit" disabled=${!form.values.topic || !form.values.node}>Let it lead<//></div><//></div><//>`;
}

function Coordinator({ nodes }) {
  const [error, setError] = useState(null);
  const form = useForm({ kind: 'group', name: '', node: choices(nodes)[0]?.[0] ?? '' });
  const move = async () => {
    const { kind, name, node } = form.values;
    try {
      const { node: now } = await post('/v1/coordinators', { [kind]: name, node: Number(node) });
      toast(`Node ${now} coordinates ${name}`);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  return html`<${Section} title="Let a node coordinate" note="and all others whose partition is the same"><div class="card">
    <${Form} onSubmit=${move}><${ErrorNote} error=${error} />
      <div class="form-row"><${Select} label="What" options=${[['group', 'Group'], ['transactional_id', 'Transactional id']]} ...${form.field('kind')} />
        <${Input} label="Name" grow=${true} ...${form.field('name')} />
        <${Select} label="Node" options=${choices(nodes)} ...${form.field('node')} />
        <${Button} only="coordinators" type="submit" disabled=${!form.values.name || !form.values.node}>Let it coordinate<//></div><//></div><//>`;
}

/** Names to choose from, the first hundred. */
function Topics() {
  const topics = useData('/v1/topics', { limit: 100, sort: 'name' }, { quiet: true });
  return html`<datalist id="topic-names">${(topics.data?.topics ?? []).map((topic) => html`<option value=${topic.name}></option>`)}</datalist>`;
}

