// Quotas of users, client ids and addresses.
import { post } from '../api.js';
import { html, useState } from '../lib.js';
import { useData } from '../parts/data.js';
import { Form, Input, Select, useForm } from '../parts/forms.js';
import { Table } from '../parts/table.js';
import { Badge, Button, Empty, ErrorNote, Loaded, Name, Page, Section, bytesText, number, toast } from '../parts/ui.js';

const KEYS = {
  producer_byte_rate: 'Bytes a second that it may produce',
  consumer_byte_rate: 'Bytes a second that it may fetch',
  request_percentage: "Percent of the broker's time for its requests",
  controller_mutation_rate: 'Topics and partitions a second that it may create or delete',
  connection_creation_rate: 'Connections a second from the address',
};
const WHO = [['client_id', 'Client id'], ['user', 'User'], ['user_client', 'User and client id'], ['ip', 'Address']];

export default function Quotas({ query }) {
  const found = useData('/v1/quotas', {}, { subjects: ['quotas'] });
  return html`<${Page} title="Quotas" note="Who asks for more than its quota is told how long to wait (KIP-219)">
    <${Section} title="Quotas"><${Loaded} of=${found}>${(data) => html`<${List} quotas=${data.quotas} reload=${found.reload} />`}<//><//>
    <${NewQuota} query=${query} reload=${found.reload} />
  <//>`;
}

const nameOf = (name) => (name === '' ? '(default)' : name);
const owner = (row) => ['user', 'client_id', 'ip'].filter((kind) => row[kind] !== null);
const LABELS = { user: 'user', client_id: 'client id', ip: 'address' };

function List({ quotas, reload }) {
  const rows = quotas.flatMap((row) => Object.entries(row.quotas).map(([key, value]) => ({ ...row, key, value })));
  const remove = (row) => async () => {
    const who = Object.fromEntries(owner(row).map((kind) => [kind, row[kind]]));
    await post('/v1/quotas', { ...who, quotas: { [row.key]: null } });
    await reload();
    toast('The quota is gone');
  };
  const said = (row) => owner(row).map((kind) => `${LABELS[kind]} ${nameOf(row[kind])}`).join(', ');
  return html`<${Table} label="Quotas" rows=${rows} rowKey=${(row) => `${row.key} ${said(row)}`}
    empty=${html`<div class="card"><${Empty} title="No quotas">Nobody is slowed down. Set one below, and see “throttle_time_ms” in the journal.<//></div>`}
    columns=${[
      { key: 'who', title: 'Whose', render: (row) => html`<span class="row">${owner(row).map((kind) => html`<span><${Badge}>${LABELS[kind]}<//> <${Name}>${nameOf(row[kind])}<//></span>`)}</span>` },
      { key: 'key', title: 'Quota', render: (row) => html`<code>${row.key}</code>` },
      { key: 'value', title: 'Value', align: 'end', render: (row) => (row.value === null ? 'no finite number' : number(row.value)) },
      { key: 'means', title: 'That is', narrow: false, render: (row) => html`<span class="soft">${means(row)}</span>` },
      { key: 'actions', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<${Button} tone="small" onClick=${remove(row)} label=${`Remove ${row.key} of ${said(row)}`}>Remove<//>` },
    ]} />`;
}

function means(row) {
  if (row.value === null) return '';
  if (row.key.endsWith('byte_rate')) return `${bytesText(row.value)} a second`;
  return row.key === 'request_percentage' ? `${row.value} %` : `${row.value} a second`;
}

function NewQuota({ query, reload }) {
  const form = useForm({ who: query.who ?? 'client_id', name: query.name ?? '', client: '', key: 'producer_byte_rate', value: '' });
  const [error, setError] = useState(null);
  const { values } = form;
  const address = values.who === 'ip';
  const keys = Object.keys(KEYS).filter((key) => (key === 'connection_creation_rate') === address);
  const key = keys.includes(values.key) ? values.key : keys[0];
  const set = async () => {
    setError(null);
    const who = values.who === 'user_client' ? { user: values.name, client_id: values.client } : { [values.who]: values.name };
    try {
      await post('/v1/quotas', { ...who, quotas: { [key]: Number(values.value) } });
      await reload();
      toast('The quota is set');
    } catch (failed) {
      setError(failed);
    }
  };
  return html`<${Section} title="Set a quota"><div class="card stack"><${Form} row onSubmit=${set} label="Set a quota">
    <${Select} label="Whose" ...${form.field('who')} options=${WHO} />
    <${Input} label=${values.who === 'user_client' ? 'User' : 'Name'} placeholder="default" title="Empty: all that have none of their own" ...${form.field('name')} />
    ${values.who === 'user_client' ? html`<${Input} label="Client id" placeholder="default" ...${form.field('client')} />` : null}
    <${Select} label="Quota" value=${key} onValue=${(next) => form.set({ key: next })} options=${keys} />
    <${Input} label="Value" inputmode="decimal" size="12" ...${form.field('value')} />
    <${Button} type="submit" tone="primary" disabled=${!values.value || Number.isNaN(Number(values.value))}>Set<//>
  <//><p class="soft">${KEYS[key]}. Without a name it is for all that have none of their own.</p><${ErrorNote} error=${error} /></div><//>`;
}
