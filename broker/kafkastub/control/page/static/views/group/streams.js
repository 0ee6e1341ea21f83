// A group of Kafka Streams: who works on which task, and what the application is made of.
import { post } from '../../api.js';
import { html } from '../../lib.js';
import { useData } from '../../parts/data.js';
import { at, tasksText, words } from '../../parts/names.js';
import { Table } from '../../parts/table.js';
import { Badge, Button, Empty, KeyValues, Loaded, Name, Section, confirm, number, toast } from '../../parts/ui.js';
import { href } from '../../router.js';

const useGroup = (group) => useData(`/v1/streams-groups/${at(group)}`, {}, { subjects: ['streams-groups', 'groups', 'topics'] });

export function Tasks({ group }) {
  const found = useGroup(group);
  const path = `/v1/streams-groups/${at(group)}`;
  const shutDown = (row) => async () => {
    const sure = await confirm({ title: 'Shut the application down?', text: 'Every member is told that this one wants the whole application to end.', yes: 'Shut down', tone: 'danger' });
    if (!sure) return;
    await post(`${path}/shut-down`, { member: row.member_id });
    toast('Members are told with their next heartbeat');
  };
  return html`<${Loaded} of=${found}>${(data) => html`
    <${Status} data=${data} />
    <${Section} title="Tasks by member" note="A task is a part of the application for one partition: subtopology_partition">
      <${Table} label="Tasks by member" rows=${data.member_list} rowKey=${(row) => row.member_id}
        empty=${html`<div class="card"><${Empty} title="No members">No instance of the application runs.<//></div>`}
        columns=${[
          { key: 'client_id', title: 'Client id', render: (row) => html`<${Name}>${row.client_id}<//><br /><span class="faint mono">${row.member_id}</span>` },
          { key: 'process_id', title: 'Process', narrow: false, render: (row) => html`<span class="mono">${row.process_id}</span>${row.user_endpoint ? html`<br /><span class="soft">${row.user_endpoint}</span>` : null}` },
          { key: 'state', title: 'State', render: (row) => html`<${Badge} tone=${row.state === 'STABLE' ? 'good' : 'warn'}>${words(row.state)}<//> <span class="soft num">epoch ${row.epoch}</span>` },
          { key: 'active', title: 'Active', render: (row) => html`<${TaskNames} tasks=${row.tasks.active} target=${row.target.active} leaving=${row.pending_revocation.active} />` },
          { key: 'standby', title: 'Standby', narrow: false, render: (row) => html`<${TaskNames} tasks=${row.tasks.standby} target=${row.target.standby} leaving=${row.pending_revocation.standby} />` },
          { key: 'warmup', title: 'Warm-up', narrow: false, render: (row) => html`<${TaskNames} tasks=${row.tasks.warmup} target=${row.target.warmup} leaving=${row.pending_revocation.warmup} />` },
          { key: 'actions', title: html`<span class="unseen">Actions</span>`, render: (row) => html`<${Button} tone="small" onClick=${shutDown(row)} label=${`Shut down, wanted by ${row.client_id}`}>Shut down<//>` },
        ]} /><//>`}<//>`;
}

function TaskNames({ tasks, target, leaving }) {
  const has = tasksText(tasks);
  const wanted = tasksText(target);
  return html`${has || html`<span class="faint">none</span>`}${leaving.length ? html`<br /><span class="warn">lets go of ${tasksText(leaving)}</span>` : null}${
    wanted === has ? null : html`<br /><span class="soft">is to have ${wanted || 'none'}</span>`}`;
}

function Status({ data }) {
  if (!data.status && !data.shutdown_by) return null;
  return html`<p class="hint warn" role="status">${data.shutdown_by ? `The application is told to end, as ${data.shutdown_by} wants. ` : ''}${
    data.status ? `${data.status}: ${data.status_message ?? ''}` : ''}</p>`;
}

export function Topology({ group }) {
  const found = useGroup(group);
  return html`<${Loaded} of=${found}>${(data) => html`
    <${Status} data=${data} />
    <${Section} title="Topology"><div class="card"><${KeyValues} items=${[
      ['Topology epoch', data.topology_epoch],
      ['Assignor', data.assignor],
      ['Tasks', number(data.tasks)],
      ['Internal topics that are missing', data.to_create.join(', ') || 'none'],
    ]} /></div><//>
    <${Section} title="Subtopologies">
      <${Table} label="Subtopologies" rows=${data.subtopologies} rowKey=${(row) => row.subtopology}
        empty=${html`<div class="card"><${Empty} title="No topology">No member has said what the application is made of.<//></div>`}
        columns=${[
          { key: 'subtopology', title: 'Subtopology' },
          { key: 'tasks', title: 'Tasks', align: 'end', render: (row) => (row.tasks === null ? '–' : number(row.tasks)) },
          { key: 'source_topics', title: 'Reads', render: (row) => html`<${Topics} names=${[...row.source_topics, ...row.repartition_source_topics.map((one) => one.name)]} />${
            row.source_topic_regex.length ? html` <code>${row.source_topic_regex.join(', ')}</code>` : null}` },
          { key: 'repartition_sink_topics', title: 'Repartitions into', render: (row) => html`<${Topics} names=${row.repartition_sink_topics} />` },
          { key: 'state_changelog_topics', title: 'Keeps state in', render: (row) => html`<${Topics} names=${row.state_changelog_topics.map((one) => one.name)} />` },
        ]} /><//>`}<//>`;
}

const Topics = ({ names }) => (names.length ? html`<span class="row">${names.map((name) => html`<a href=${href('topics', name)}><${Name}>${name}<//></a>`)}</span>` : html`<span class="faint">–</span>`);
