// One group: why its members get records or not, who they are, its partitions with offsets and when each expires.
import { del, get, post } from '../../api.js';
import { html } from '../../lib.js';
import { useData, useVersion } from '../../parts/data.js';
import { at } from '../../parts/names.js';
import { Table, VirtualTable } from '../../parts/table.js';
import { Moment, fromNow, momentText, useClock, useTick } from '../../parts/time.js';
import { Button, Empty, Figures, LinkButton, Loaded, Name, Page, Section, Tabs, confirm, number, toast } from '../../parts/ui.js';
import { go, href } from '../../router.js';
import { Findings, RULES, SUBJECTS, StateBadge } from './parts.js';
import { Members } from './members.js';
import { Missing } from './missing.js';
import { ShareRecords } from './share.js';
import { Tasks, Topology } from './streams.js';

/** What groups of a type have that others have not. */
const TYPES = {
  classic: { epoch: 'Generation' },
  share: { commits: false, parts: [{ id: 'records', title: 'Records in flight', view: ShareRecords }] },
  streams: { parts: [{ id: 'tasks', title: 'Tasks', view: Tasks }, { id: 'topology', title: 'Topology', view: Topology }] },
};
const typeOf = (group) => ({ epoch: 'Epoch', commits: true, parts: [], ...TYPES[group.type] });
const partitionsOf = (group) => (typeOf(group).commits ? 'Partitions and offsets' : 'Partitions');

export function Group({ group, tab = 'now' }) {
  const path = `/v1/groups/${at(group)}`;
  const one = useData(path, { limit: 1 }, { subjects: SUBJECTS });
  const more = useData('/v1/groups', { group, details: true }, { subjects: [...SUBJECTS, 'topics'] });
  const clock = useClock();
  useTick(clock.known && !clock.frozen, 5000);
  const crumbs = [{ title: 'Groups', href: href('groups') }];
  return html`<${Page} title=${group || '(empty name)'} crumbs=${crumbs} actions=${one.data ? html`<${Actions} group=${one.data} path=${path} />` : null}>
    ${one.error?.code === 'GROUP_ID_NOT_FOUND' ? html`<${Missing} group=${group} />` : html`<${Loaded} of=${one}>${(found) => html`
      <${Figures} items=${figures(found, more.data?.groups[0], clock)} />
      <${Tabs} label="Parts of the group" current=${tab} items=${tabs(found)} />
      <${Part} tab=${tab} found=${found} path=${path} clock=${clock} />`}<//>`}
  <//>`;
}

function figures(found, details, clock) {
  const since = found.state_since ? Date.parse(found.state_since) : null;
  const next = details?.next_expiry_ms ?? null;
  const { epoch, commits } = typeOf(found);
  return [
    { title: 'State', value: html`<${StateBadge} state=${found.state} />`,
      note: since === null ? `${found.type} group` : `${found.type} group, since ${momentText(since)}` },
    { title: 'Members', value: number(found.members), note: found.protocol ? `assigned by ${found.protocol}` : null },
    { title: epoch, value: number(found.generation),
      note: found.target_epoch === null || found.target_epoch === found.generation ? null : `target epoch ${found.target_epoch}` },
    commits && { title: 'Lag', value: !found.offsets ? '–' : details ? number(details.lag) : '…', tone: details?.lag > 0 ? 'warn' : undefined, note: !found.offsets ? 'nothing is committed' : details?.partitions_without_offset > 0
        ? `records behind the offsets; ${number(details.partitions_without_offset)} of its partitions with records have none` : 'records behind the offsets' },
    commits && { title: 'Committed offsets', value: number(found.offsets), href: href('groups', found.group, 'partitions') },
    commits && found.offsets > 0 && { title: 'Next offset expires', href: href('groups', found.group, 'partitions'),
      value: next === null ? 'stays' : clock.known ? fromNow(next, clock.now()) : '…', note: next === null ? 'as the group is now' : momentText(next) },
  ];
}

function tabs(found) {
  const to = (tab) => href(...['groups', found.group, tab].filter(Boolean));
  return [
    { id: 'now', title: 'Overview', href: to() },
    { id: 'partitions', title: partitionsOf(found), href: to('partitions') },
    ...typeOf(found).parts.map(({ id, title }) => ({ id, title, href: to(id) })),
  ];
}

function Part({ tab, found, path, clock }) {
  if (tab === 'partitions') return html`<${Partitions} found=${found} path=${path} clock=${clock} />`;
  const part = typeOf(found).parts.find(({ id }) => id === tab);
  if (part) return html`<${part.view} group=${found.group} />`;
  return html`<${Why} path=${path} /><${First} found=${found} path=${path} clock=${clock} /><${Members} group=${found} path=${path} />`;
}

function Why({ path }) {
  const found = useData(`${path}/findings`, {}, {
    subjects: [...SUBJECTS, 'topics', 'faults', 'nodes', 'transactions', 'clock', 'chaos'],
  });
  return html`<${Section} title="Do its members get records?" note="What the broker sees of it">
    <${Loaded} of=${found}>${(data) => html`<${Findings} findings=${data.findings} />`}<//><//>`;
}

function Actions({ group, path }) {
  const remove = async () => {
    const sure = await confirm({ title: `Delete group ${group.group}?`, text: 'It goes with all of its offsets.', yes: 'Delete', tone: 'danger' });
    if (!sure) return;
    await del(path);
    toast('The group is deleted');
    go(href('groups'));
  };
  const sweep = async () => {
    const { expired_offsets: gone } = await post('/v1/groups/expire');
    toast(gone === 1 ? '1 offset has expired' : `${gone} offsets have expired`);
  };
  return html`<${LinkButton} href=${href('journal', { group: group.group })}>Requests that name the group<//>
    <${LinkButton} href=${href('faults', { group: group.group })}>Add a fault<//>
    <${Button} only="groups/" onClick=${sweep} title="Look for expired offsets now, of all groups">Sweep now<//>
    ${group.members === 0 ? html`<${Button} tone="danger" onClick=${remove}>Delete<//>` : null}`;
}

function Partitions({ found, path, clock }) {
  const version = useVersion([...SUBJECTS, 'topics', 'transactions', 'nodes']);
  const load = async (offset, limit) => {
    const page = await get(`${path}/partitions`, { offset, limit });
    return { rows: page.partitions, total: page.total };
  };
  const { commits } = typeOf(found);
  return html`<${Section} title="Partitions" fill
    note=${!commits ? 'Who may read what' : 'What is committed, how far behind it is, and when it expires if nothing happens'}>
    <${VirtualTable} label="Partitions" load=${load} version=${version} source=${path}
      href=${(row) => href('topics', row.topic, 'records', { partition: row.partition, offset: row.offset })}
      empty=${html`<${Empty} title="No partitions">It has committed nothing, and nobody in it is assigned anything.<//>`}
      columns=${columns(commits, clock)} /><//>`;
}

const FIRST = 12;

/** The first few partitions, for who looks at the group as a whole. */
function First({ found, path, clock }) {
  const data = useData(`${path}/partitions`, { limit: FIRST }, { subjects: [...SUBJECTS, 'topics', 'transactions', 'nodes'] });
  return html`<${Section} title=${partitionsOf(found)}
    actions=${data.data?.total > FIRST ? html`<a href=${href('groups', found.group, 'partitions')}>All ${number(data.data.total)}</a>` : null}>
    <${Loaded} of=${data}>${(seen) => html`<${Table} label="Partitions" rows=${seen.partitions} rowKey=${(row) => `${row.topic}-${row.partition}`}
      href=${(row) => href('topics', row.topic, 'records', { partition: row.partition, offset: row.offset })}
      empty=${html`<div class="card"><${Empty} title="No partitions">It has committed nothing, and nobody in it is assigned anything.<//></div>`}
      columns=${columns(typeOf(found).commits, clock)} />`}<//><//>`;
}

const columns = (commits, clock) => [
  { key: 'topic', title: 'Partition', width: 'minmax(100px, 1.6fr)', render: (row) => html`<${Name}>${row.topic}-${row.partition}<//>` },
  { key: 'client_id', title: 'Owner', width: 'minmax(70px, 1fr)', narrow: false,
    render: (row) => (row.member_id ? html`<span title=${row.member_id}>${row.client_id || row.member_id}</span>` : html`<span class="faint">nobody</span>`) },
  ...(!commits ? [] : [
    { key: 'offset', title: 'Committed', width: '80px', align: 'end', render: (row) => (row.offset === null ? html`<span class="faint">–</span>` : number(row.offset)) },
  ]),
  { key: 'log_end_offset', title: 'Log end', width: '80px', align: 'end', narrow: false, render: end },
  ...(!commits ? [] : [
    { key: 'lag', title: 'Lag', width: '64px', align: 'end', render: (row) => (row.lag > 0 ? html`<b>${number(row.lag)}</b>` : row.lag === null ? '–' : '0') },
    { key: 'committed_ms', title: 'Committed at', width: '142px', narrow: false, render: (row) => html`<${Moment} ms=${row.committed_ms} />` },
    { key: 'expires_at_ms', title: 'Expires', width: 'minmax(120px, 2.2fr)', render: (row) => expires(row, clock) },
  ]),
  { key: 'leader', title: 'Leader', width: '60px', align: 'end', narrow: false, render: (row) => (row.leader === null ? '–'
    : row.leader_running ? row.leader : html`<span class="bad" title="It is stopped">${row.leader}</span>`) },
];

function end(row) {
  if (row.log_end_offset === null) return html`<span class="faint">gone</span>`;
  const open = row.last_stable_offset < row.log_end_offset;
  return html`<span class=${open ? 'warn' : ''} title=${open ? `A transaction is open from ${row.last_stable_offset} on` : undefined}>${number(row.log_end_offset)}</span>`;
}

function expires(row, clock) {
  if (!row.rule) return html`<span class="faint">–</span>`;
  if (row.expires_at_ms === null) return html`<span class="soft" title=${row.why}>stays: ${RULES[row.rule]}</span>`;
  const when = clock.known ? fromNow(row.expires_at_ms, clock.now()) : momentText(row.expires_at_ms);
  return html`<span title=${`${momentText(row.expires_at_ms)}: ${row.why}`}>${when} <span class="soft">${RULES[row.rule]}</span></span>`;
}
