// A share group's partitions, record by record: whose they are, for how long, how often delivered.
import { post } from '../../api.js';
import { html } from '../../lib.js';
import { useData } from '../../parts/data.js';
import { at } from '../../parts/names.js';
import { Table } from '../../parts/table.js';
import { Span } from '../../parts/time.js';
import { Badge, Bar, Button, Empty, Loaded, Name, Section, number, toast } from '../../parts/ui.js';
import { href } from '../../router.js';

const MOST = 500; // runs of records
const TONES = { available: 'quiet', acquired: 'info', acknowledged: 'good', archiving: 'warn', archived: 'bad' };

export function ShareRecords({ group }) {
  const path = `/v1/share-groups/${at(group)}`;
  const found = useData(path, { limit: MOST }, { subjects: ['share-groups', 'topics'] });
  const turn = (held) => async () => {
    await post(`${path}/${held ? 'release' : 'hold'}-acknowledgements`);
    toast(held ? 'What was held has become true' : 'Nothing becomes of acknowledgements until they are released');
    await found.reload();
  };
  return html`<${Loaded} of=${found}>${(data) => html`
    <${Section} title="Share partitions" note="Records between the first that is not done with and the end"
      actions=${html`<${Button} onClick=${turn(data.holds_acknowledgements)} tone=${data.holds_acknowledgements ? 'primary' : ''}
        title="While they are held, nothing becomes of what members say">${data.holds_acknowledgements ? 'Release acknowledgements' : 'Hold acknowledgements'}<//>`}>
      <${Table} label="Share partitions" rows=${data.partition_list} rowKey=${(row) => `${row.topic}-${row.partition}`}
        empty=${html`<div class="card"><${Empty} title="No partitions">Nobody has subscribed to a topic in this group so far.<//></div>`}
        columns=${[
          { key: 'topic', title: 'Partition', render: (row) => html`<a href=${href('topics', row.topic, 'records', { partition: row.partition, offset: row.start })}><${Name}>${row.topic}-${row.partition}<//></a>` },
          { key: 'start', title: 'Start', align: 'end', render: (row) => (row.start === null ? '–' : number(row.start)) },
          { key: 'end', title: 'End', align: 'end', render: (row) => number(row.end) },
          { key: 'lag', title: 'Left', align: 'end', render: (row) => (row.lag === null ? '–' : number(row.lag)) },
          { key: 'counts', title: 'Records', render: (row) => html`<${Counts} counts=${row.counts} />` },
        ]} />
    <//>
    <${Section} title="Records" note=${`Neighbours with which it is the same stand in one line; ${MOST} lines at most`}>
      <${Table} label="Records in flight" rows=${data.partition_list.flatMap(lines)} rowKey=${(row) => `${row.topic}-${row.partition}-${row.first}`}
        empty=${html`<div class="card"><${Empty} title="Nothing is in flight">Every record is done with, or nobody has asked for any.<//></div>`}
        columns=${[
          { key: 'topic', title: 'Partition', render: (row) => html`<${Name}>${row.topic}-${row.partition}<//>` },
          { key: 'first', title: 'Offsets', align: 'end', render: (row) => html`<a href=${href('topics', row.topic, 'records', { partition: row.partition, offset: row.first })}>${row.first === row.last ? number(row.first) : `${number(row.first)}–${number(row.last)}`}</a>` },
          { key: 'state', title: 'State', render: (row) => html`<${Badge} tone=${TONES[row.state]}>${row.state}<//>${row.held ? html` <${Badge} tone="warn">held<//>` : null}` },
          { key: 'deliveries', title: 'Delivered', align: 'end', render: (row) => `${row.deliveries} ×` },
          { key: 'client_id', title: 'Whose', render: (row) => (row.member_id ? html`<span title=${row.member_id}>${row.client_id ?? row.member_id}</span>` : html`<span class="faint">nobody's</span>`) },
          { key: 'lock_left_ms', title: 'For still', align: 'end', narrow: false, render: (row) => (row.lock_left_ms === null ? '–' : html`<${Span} ms=${row.lock_left_ms} />`) },
        ]} /><//>`}<//>`;
}

const lines = (partition) => partition.records.map((one) => ({ ...one, topic: partition.topic, partition: partition.partition }));

const Counts = ({ counts }) => {
  const there = Object.entries(counts).filter(([, count]) => count > 0);
  const all = there.reduce((sum, [, count]) => sum + count, 0);
  if (!all) return html`<span class="faint">none</span>`;
  return html`<span class="row">${there.map(([state, count]) => html`<${Badge} tone=${TONES[state]}>${number(count)} ${state}<//>`)}</span>
    <${Bar} value=${all - (counts.available ?? 0)} most=${all} text=${`${all - (counts.available ?? 0)} of ${all} were delivered`} />`;
};
