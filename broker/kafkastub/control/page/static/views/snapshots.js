// Snapshots: the broker's whole state, kept and put back.
import { del, download, post, put } from '../api.js';
import { html, useRef, useState } from '../lib.js';
import { useData } from '../parts/data.js';
import { Form, Input, useForm } from '../parts/forms.js';
import { at, many } from '../parts/names.js';
import { Table } from '../parts/table.js';
import { Moment } from '../parts/time.js';
import { Button, Empty, ErrorNote, Loaded, Name, Page, Section, confirm, number, toast } from '../parts/ui.js';

export default function Snapshots() {
  const found = useData('/v1/snapshots', {}, { subjects: ['snapshots'] });
  return html`<${Page} title="Snapshots" note="Topics, records, groups, transactions, ACLs and the clock, as they were. Sixteen are kept; a reset leaves them.">
    <${Take} reload=${found.reload} />
    <${Section} title="Kept"><${Loaded} of=${found}>${(data) => html`<${Kept} snapshots=${data.snapshots} reload=${found.reload} />`}<//><//>
  <//>`;
}

function Take({ reload }) {
  const form = useForm({ id: '' });
  const [error, setError] = useState(null);
  const file = useRef(null);
  const attempt = async (work) => {
    setError(null);
    try {
      toast(await work());
      form.clear();
      await reload();
    } catch (failed) {
      setError(failed);
    }
  };
  const take = () => attempt(async () => {
    const { id } = await post('/v1/snapshots', form.values.id ? { id: form.values.id } : {});
    return `Snapshot ${id} is kept`;
  });
  const upload = (event) => attempt(async () => {
    const [given] = event.target.files;
    const id = form.values.id || given.name.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 100);
    await put(`/v1/snapshots/${at(id)}/file`, given);
    event.target.value = '';
    return `Snapshot ${id} is kept`;
  });
  return html`<${Section} title="Keep the state as it is now"><div class="card stack">
    <${Form} row onSubmit=${take} label="Keep the state as it is now">
      <${Input} label="Name" placeholder="snapshot-1" ...${form.field('id')} />
      <${Button} type="submit" tone="primary">Take a snapshot<//>
      <${Button} onClick=${() => file.current.click()}>Read a file …<//>
      <input type="file" class="unseen" tabindex="-1" aria-label="File of a snapshot" ref=${file} onChange=${upload} />
    <//>
    <${ErrorNote} error=${error} /></div><//>`;
}

function Kept({ snapshots, reload }) {
  const restore = (row) => async () => {
    const sure = await confirm({ title: `Be what ${row.id} was taken of?`, text: 'What has happened since is gone. Clients are disconnected, and come back by themselves.', yes: 'Restore' });
    if (!sure) return;
    await post(`/v1/snapshots/${at(row.id)}/restore`);
    toast(`The state is that of ${row.id}`);
  };
  const remove = (row) => async () => {
    const sure = await confirm({ title: `Delete snapshot ${row.id}?`, yes: 'Delete', tone: 'danger' });
    if (!sure) return;
    await del(`/v1/snapshots/${at(row.id)}`);
    await reload();
    toast(`Snapshot ${row.id} is deleted`);
  };
  return html`<${Table} label="Snapshots" rows=${snapshots} rowKey=${(row) => row.id}
    empty=${html`<div class="card"><${Empty} title="No snapshots">Take one after a test has set everything up: restoring it takes milliseconds.<//></div>`}
    columns=${[
      { key: 'id', title: 'Name', render: (row) => html`<span class=${row.id.length < 40 ? 'whole' : ''}><${Name}>${row.id}<//></span>` },
      { key: 'now', title: 'Broker time then', render: (row) => html`<${Moment} ms=${Date.parse(row.now)} />` },
      { key: 'topics', title: 'Topics', narrow: false, render: (row) => topics(row.topics) },
      { key: 'records', title: 'Records', align: 'end', render: (row) => number(row.records) },
      { key: 'actions', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<span class="row">
        <${Button} tone="small" onClick=${restore(row)} label=${`Restore ${row.id}`}>Restore<//>
        <${Button} tone="small" onClick=${() => download(`/v1/snapshots/${at(row.id)}/file`, `${row.id}.snapshot`)} label=${`Download ${row.id}`}>Download<//>
        <${Button} tone="small" onClick=${remove(row)} label=${`Delete ${row.id}`}>Delete<//></span>` },
    ]} />`;
}

function topics(found) {
  const names = Object.keys(found);
  if (!names.length) return html`<span class="faint">none</span>`;
  const text = names.map((name) => `${name} (${found[name]})`).join(', ');
  return html`<span title=${text.slice(0, 2000)}>${names.length > 4 ? `${many(names.length, 'topic')}: ${names.slice(0, 3).join(', ')} …` : text}</span>`;
}
