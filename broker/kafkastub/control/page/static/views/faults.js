// Faults: what goes wrong, and when; and everything that is held, each let go by a click.
import { del, post } from '../api.js';
import { html } from '../lib.js';
import { useData } from '../parts/data.js';
import { at } from '../parts/names.js';
import { Table } from '../parts/table.js';
import { timeText } from '../parts/time.js';
import { Badge, Button, Empty, Loaded, Name, Page, Section, confirm, number, toast } from '../parts/ui.js';
import { href } from '../router.js';
import { NewFault } from './faults/form.js';

export default function Faults({ query }) {
  const faults = useData('/v1/faults', {}, { subjects: ['faults'] });
  const holds = useData('/v1/holds', {}, { subjects: ['faults', 'transactions', 'share-groups', 'groups'] });
  const reload = () => Promise.all([faults.reload(), holds.reload()]);
  const clear = async () => {
    const sure = await confirm({ title: 'Remove all faults?', text: 'Requests that are held go on.', yes: 'Remove all' });
    if (!sure) return;
    const { removed } = await del('/v1/faults');
    await reload();
    toast(removed === 1 ? '1 fault is removed' : `${removed} faults are removed`);
  };
  return html`<${Page} title="Faults and holds" note="A fault is a rule: which requests of Kafka's clients meet it, and what happens to them."
    actions=${faults.data?.faults.length ? html`<${Button} tone="danger" onClick=${clear}>Remove all<//>` : null}>
    <${Section} title="Held now" note="What a test keeps back until it is released"><${Loaded} of=${holds}>${(data) => html`<${Holds} data=${data} reload=${reload} />`}<//><//>
    <${Section} title="Faults" note="Of those that are due, the first acts"><${Loaded} of=${faults}>${(data) => html`<${Rules} faults=${data.faults} reload=${reload} />`}<//><//>
    <${NewFault} query=${query} reload=${reload} />
  <//>`;
}

function Rules({ faults, reload }) {
  return html`<${Table} label="Faults" cards rows=${faults} rowKey=${(row) => row.id}
    empty=${html`<div class="card"><${Empty} title="No faults">Every request is served. Add a fault below, and watch what a client makes of it in the journal.<//></div>`}
    columns=${[
      { key: 'id', title: 'Name', render: (row) => html`<${Name}>${row.id}<//>` },
      { key: 'rule', title: 'Rule', render: (row) => html`<span class="rule-text">${ruleText(row.rule)}</span>` },
      { key: 'hits', title: 'Met by', align: 'end', help: 'Requests that have met it, of those that it matched',
        render: (row) => html`<a href=${href('journal', { fault: row.id })}>${number(row.hits)} of ${number(row.matched)} that match</a>${
          row.rule.times && row.hits >= row.rule.times ? html` <${Badge}>spent<//>` : null}` },
      { key: 'held', title: 'Holds', align: 'end', render: (row) => (row.held.length ? html`<b>${number(row.held.length)}</b>` : row.rule.hold ? '0' : '–') },
      { key: 'actions', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<span class="row">
        ${row.held.length ? html`<${Button} tone="small primary" onClick=${releasing(row.id, reload)} label=${`Release all that ${row.id} holds`}>Release all<//>` : null}
        <${Button} tone="small" onClick=${removing(row.id, reload)} label=${`Remove ${row.id}`}>Remove<//></span>` },
    ]} />`;
}

const goesOn = (released) => `${released === 1 ? '1 request goes on' : `${released} requests go on`}. The rule is still there: it holds the next one, too`;

const removing = (fault, reload) => async () => {
  await del(`/v1/faults/${at(fault)}`);
  await reload();
  toast(`Fault ${fault} is removed`);
};

/** Let go of what a fault holds, or of one `connection`; that the rule goes as well is offered. */
const releasing = (fault, reload, connection) => async () => {
  const { released } = await post(`/v1/faults/${at(fault)}/release`, connection);
  await reload();
  toast(goesOn(released), 'good', { label: 'Remove the rule', act: removing(fault, reload) });
};

/** `api=Fetch topic=orders delay_ms=500`, as the command takes it. */
const ruleText = (rule) => Object.entries(rule).filter(([name]) => name !== 'name')
  .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : value}`).join(' ') || 'matches everything and does nothing';

function Holds({ data, reload }) {
  const let_go = (path, body, done) => async () => {
    await post(path, body);
    await reload();
    toast(done);
  };
  const rows = [
    ...data.requests.map((one) => ({
      key: `${one.fault} ${one.number}`, what: 'Request', name: `${one.api} v${one.version} of ${one.client_id ?? 'nobody'}, connection ${one.connection}`, more: `no. ${number(one.number)} that it holds`, since: one.since, by: `fault ${one.fault}`,
      to: href('journal', { fault: one.fault }), release: releasing(one.fault, reload, { connection: one.connection }),
    })),
    ...data.markers.map((id) => ({
      key: `marker ${id}`, what: 'Transaction markers', name: id, by: 'hold of the transaction', to: href('transactions', id),
      release: let_go(`/v1/transactions/${at(id)}/release`, undefined, 'The markers are written'),
    })),
    ...data.acknowledgements.map((group) => ({
      key: `share ${group}`, what: 'Acknowledgements', name: group, by: 'hold of the share group', to: href('groups', group, 'records'),
      release: let_go(`/v1/share-groups/${at(group)}/release-acknowledgements`, undefined, 'What was held has become true'),
    })),
    ...data.revocations.map((one) => ({
      key: `${one.group} ${one.member_id}`, what: 'Revocation', name: `${one.member_id} in group ${one.group}`, by: 'hold of the member', to: href('groups', one.group),
      release: let_go(`/v1/groups/${at(one.group)}/release-revocation`, { member: one.member_id }, 'What it lets go of counts again'),
    })),
  ];
  return html`<${Table} label="Held now" cards rows=${rows} rowKey=${(row) => row.key}
    empty=${html`<div class="card"><${Empty} title="Nothing is held">A fault with “hold” keeps requests here until they are released.<//></div>`}
    columns=${[
      { key: 'what', title: 'What', render: (row) => html`<${Badge} tone="warn">${row.what}<//>` },
      { key: 'name', title: 'Whose', render: (row) => html`<a href=${row.to}><${Name}>${row.name}<//></a>` },
      { key: 'by', title: 'Held by', narrow: false, render: (row) => html`<${Name}>${row.by}<//>${row.more ? html`<div class="soft">${row.more}</div>` : null}` },
      { key: 'since', title: 'Held since', help: 'By the machine\'s clock', render: (row) => (row.since ? html`<time class="num">${timeText(row.since * 1000)}</time>` : '–') },
      { key: 'actions', title: html`<span class="unseen">Actions</span>`, align: 'end', render: (row) => html`<${Button} tone="small primary" onClick=${row.release} label=${`Release ${row.what}: ${row.name}`}>Release<//>` },
    ]} />`;
}

