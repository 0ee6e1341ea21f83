// Access control: the entries, and who may do what.
import { del, get, post } from '../api.js';
import { html, useState } from '../lib.js';
import { useData, useVersion } from '../parts/data.js';
import { Form, Input, Late, Select, Toolbar, useForm } from '../parts/forms.js';
import { words } from '../parts/names.js';
import { Table, VirtualTable } from '../parts/table.js';
import { Badge, Button, Empty, ErrorNote, Loaded, Name, Page, Section, confirm, toast } from '../parts/ui.js';
import { setQuery } from '../router.js';

const RESOURCES = ['TOPIC', 'GROUP', 'CLUSTER', 'TRANSACTIONAL_ID', 'DELEGATION_TOKEN', 'USER'];
const ROW = 34; // pixels
const OPERATIONS = ['ALL', 'READ', 'WRITE', 'CREATE', 'DELETE', 'ALTER', 'DESCRIBE', 'CLUSTER_ACTION', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS',
  'IDEMPOTENT_WRITE', 'CREATE_TOKENS', 'DESCRIBE_TOKENS', 'TWO_PHASE_COMMIT'];

export default function Acls({ query }) {
  const about = useData('/v1/acls', { limit: 1 }, { subjects: ['acls'] });
  return html`<${Page} title="ACLs"><${Loaded} of=${about}>${(data) => (data.authorizer
    ? html`<${Who} data=${data} /><${Entries} query=${query} total=${data.total} reload=${about.reload} /><div class="columns"><${NewAcl} reload=${about.reload} /><${Access} /></div>`
    : html`<div class="card"><${Empty} title="There is no authorizer">Everybody may do everything. Start the broker with
      <code>authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer</code> to have one.<//></div>`)}<//><//>`;
}

const Who = ({ data }) => html`<p class="hint">${data.super_users.length ? `Super users, who may do everything: ${data.super_users.join(', ')}.` : 'There are no super users.'} ${
  data.everyone_without_acl ? 'What no entry is about, everybody may use.' : 'What no entry is about, nobody else may use.'}</p>`;

function Entries({ query, total, reload }) {
  const version = useVersion(['acls']);
  const [removed, setRemoved] = useState(0);
  const asked = { resource_type: query.resource_type, principal: query.principal };
  const load = async (offset, limit) => {
    const page = await get('/v1/acls', { ...asked, offset, limit });
    return { rows: page.acls, total: page.total };
  };
  const remove = (row) => async () => {
    const sure = await confirm({
      title: 'Remove this entry?', yes: 'Remove', tone: 'danger',
      text: html`<${Name}>${`${row.permission} ${row.operation} on ${words(row.resource_type)} ${row.resource_name} for ${row.principal} from ${row.host}: clients meet it with their next request.`}<//>`,
    });
    if (!sure) return;
    await del('/v1/acls', row);
    await reload();
    setRemoved((one) => one + 1);
    toast('The entry is removed');
  };
  return html`<${Section} title="Entries" actions=${html`<${Toolbar}>
      <${Select} label="Resource" hideLabel value=${query.resource_type ?? ''} onValue=${(value) => setQuery({ resource_type: value })} options=${[['', 'All resources'], ...RESOURCES]} />
      <${Late} label="Principal" hideLabel placeholder="Principal, User:alice" value=${query.principal} onValue=${(value) => setQuery({ principal: value })} /><//>`}>
    <div class="sized" style=${{ height: `${Math.max(130, Math.min(480, ROW * (total + 1) + 4))}px` }}><${VirtualTable} label="Entries" load=${load} version=${version + removed} source=${JSON.stringify(asked)} rowHeight=${ROW}
      empty=${html`<${Empty} title="No entries">Add one below, or with <code>kafka-acls</code>.<//>`}
      columns=${[
        { key: 'permission', title: 'Permission', width: '80px', render: (row) => html`<${Badge} tone=${row.permission === 'ALLOW' ? 'good' : 'bad'}>${row.permission}<//>` },
        { key: 'principal', title: 'Principal', width: 'minmax(90px, 2fr)', render: (row) => html`<${Name}>${row.principal}<//>` },
        { key: 'host', title: 'From', width: '110px', narrow: false, render: (row) => html`<${Name}>${row.host}<//>` },
        { key: 'operation', title: 'Operation', width: 'minmax(80px, 1fr)' },
        { key: 'resource_name', title: 'Resource', width: 'minmax(100px, 3fr)', render: (row) => html`<span class="soft">${words(row.resource_type)}</span> <${Name}>${row.resource_name}<//>${
          row.pattern_type === 'PREFIXED' ? html` <${Badge}>prefix<//>` : null}` },
        { key: 'actions', title: html`<span class="unseen">Actions</span>`, width: '84px', align: 'end', render: (row) => html`<${Button} tone="small" onClick=${remove(row)}
          label=${`Remove: ${row.permission} ${row.operation} on ${row.resource_name} for ${row.principal}`}>Remove<//>` },
      ]} /></div><//>`;
}

function NewAcl({ reload }) {
  const form = useForm({ resource_type: 'TOPIC', resource_name: '', pattern_type: 'LITERAL', principal: 'User:', host: '*', operation: 'READ', permission: 'ALLOW' });
  const [error, setError] = useState(null);
  const add = async () => {
    setError(null);
    try {
      await post('/v1/acls', form.values);
      await reload();
      toast('The entry counts from now on');
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<${Section} title="Add an entry"><div class="card"><${Form} onSubmit=${add} label="Add an entry"><div class="form-row">
    <${Select} label="Permission" ...${form.field('permission')} options=${['ALLOW', 'DENY']} />
    <${Input} label="Principal" ...${form.field('principal')} />
    <${Select} label="Operation" ...${form.field('operation')} options=${OPERATIONS} />
    <${Select} label="Resource" ...${form.field('resource_type')} options=${RESOURCES} />
    <${Select} label="Pattern" ...${form.field('pattern_type')} options=${['LITERAL', 'PREFIXED']} />
    <${Input} label="Name of the resource" placeholder="* is every one" ...${form.field('resource_name')} />
    <${Input} label="From" size="12" ...${form.field('host')} />
    </div><${ErrorNote} error=${error} /><div class="row"><${Button} type="submit" tone="primary">Add entry<//></div><//></div><//>`;
}

function Access() {
  const form = useForm({ principal: 'User:', host: '127.0.0.1', operation: 'READ', resource_type: 'TOPIC', resource_name: '' });
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const look = async () => {
    setError(null);
    try {
      setFound(await get('/v1/acls/access', form.values));
    } catch (failed) {
      setFound(null);
      setError(failed);
    }
  };
  return html`<${Section} title="May somebody do something?"><div class="card"><${Form} onSubmit=${look} label="May somebody do something?"><div class="form-row">
    <${Input} label="Who" ...${form.field('principal')} />
    <${Input} label="Asking from" size="12" ...${form.field('host')} />
    <${Select} label="Does what" ...${form.field('operation')} options=${OPERATIONS.slice(1)} />
    <${Select} label="To a" ...${form.field('resource_type')} options=${RESOURCES} />
    <${Input} label="Called" ...${form.field('resource_name')} />
    </div><${ErrorNote} error=${error} />
    <div class="row"><${Button} type="submit" disabled=${!form.values.resource_name}>Ask<//>${found ? html`<span role="status"><${Badge} tone=${found.allowed ? 'good' : 'bad'}>${found.allowed ? 'Allowed' : 'Denied'}<//> <span class="soft">${
      found.super_user ? 'as a super user' : found.concerning.length ? 'by the entries about it:' : 'no entry is about it'}</span></span>` : null}</div>
    ${found?.concerning.length ? html`<${Table} label="Entries about it" rows=${found.concerning} columns=${[
      { key: 'permission', title: 'Permission', render: (row) => html`<${Badge} tone=${row.permission === 'ALLOW' ? 'good' : 'bad'}>${row.permission}<//>` },
      { key: 'principal', title: 'Principal' }, { key: 'operation', title: 'Operation' }, { key: 'resource_name', title: 'Resource', render: (row) => `${row.resource_name}${row.pattern_type === 'PREFIXED' ? '*' : ''}` },
    ]} />` : null}<//></div><//>`;
}
