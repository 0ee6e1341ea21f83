// The members of a group of any type, and what only tests do to them.
import { post } from '../../api.js';
import { html } from '../../lib.js';
import { Table } from '../../parts/table.js';
import { Badge, Button, Empty, Name, Section, confirm, toast } from '../../parts/ui.js';
import { partitionsText, words } from '../../parts/names.js';
import { Places } from './parts.js';

/** Of a streams group the members have views of their own: tasks. */
export function Members({ group, path }) {
  const modern = group.type !== 'classic';
  const columns = [
    { key: 'client_id', title: 'Client id', render: (row) => html`<${Name}>${row.client_id}<//>${row.group_instance_id ? html` <span class="soft">static: ${row.group_instance_id}</span>` : null}<br />
      <span class="faint mono">${row.member_id}</span>` },
    { key: 'host', title: 'Host', narrow: false },
    modern && { key: 'state', title: 'State', render: (row) => html`${row.state ? html`<${Badge} tone=${row.state === 'STABLE' ? 'good' : 'warn'}>${words(row.state)}<//>` : null}
      ${row.epoch === null ? null : html` <span class="soft num">epoch ${row.epoch}</span>`}${row.held ? html` <${Badge} tone="warn">held<//>` : null}
      ${row.upgraded === false ? html` <${Badge}>classic protocol<//>` : null}` },
    { key: 'subscribed', title: 'Subscribed', narrow: false, render: (row) => subscribed(row) },
    { key: 'assigned', title: 'Has', render: (row) => html`<${Places} places=${row.assigned} />${toCome(row)}` },
    { key: 'actions', title: html`<span class="unseen">Actions</span>`, render: (row) => html`<${Actions} row=${row} group=${group} path=${path} />` },
  ].filter(Boolean);
  return html`<${Section} title="Members">
    <${Table} label="Members" rows=${group.member_list} rowKey=${(row) => row.member_id} columns=${columns}
      empty=${html`<div class="card"><${Empty} title="No members">Nobody is in the group now. What it has committed is under “Partitions and offsets”.<//></div>`} /><//>`;
}

function subscribed(row) {
  if (row.expression) return html`<code>${row.expression}</code> ${row.subscribed?.length ? html`<span class="soft">${row.subscribed.join(', ')}</span>` : null}`;
  if (row.subscribed === null) return html`<span class="faint">not known</span>`;
  return row.subscribed.length ? html`<${Name}>${row.subscribed.join(', ')}<//>` : html`<span class="faint">nothing</span>`;
}

function toCome(row) {
  const leaving = row.pending_revocation?.length ? html`<br /><span class="warn">lets go of ${partitionsText(row.pending_revocation)}</span>` : null;
  const target = row.target === null || row.target === undefined ? null : partitionsText(row.target);
  const same = target === null || target === partitionsText(row.assigned);
  return html`${leaving}${same ? null : html`<br /><span class="soft">is to have ${target || 'none'}</span>`}`;
}

function Actions({ row, group, path }) {
  const act = (what, done) => async () => {
    await post(`${path}/${what}`, { member: row.member_id });
    toast(done);
  };
  const end = async () => {
    const sure = await confirm({ title: `End the session of ${row.client_id}?`, text: 'The group does at once what it does when a member has not sent a heartbeat for its session timeout.', yes: 'End it' });
    if (sure) await act('end-session', 'The session has ended')();
  };
  return html`<span class="row">
    <${Button} only="groups/" tone="small" onClick=${end} label=${`End session of ${row.client_id}`}>End session<//>
    ${group.type !== 'consumer' ? null : row.held
      ? html`<${Button} only="groups/" tone="small" onClick=${act('release-revocation', 'What it lets go of counts again')} label=${`Release revocation of ${row.client_id}`}>Release<//>`
      : html`<${Button} only="groups/" tone="small" onClick=${act('hold-revocation', 'What it lets go of does not count from now on')} title="What it lets go of does not count from now on" label=${`Hold revocation of ${row.client_id}`}>Hold<//>`}
  </span>`;
}
