// Groups of every type: all of them, and one.
import { get } from '../api.js';
import { html } from '../lib.js';
import { useVersion } from '../parts/data.js';
import { Search, Select, Toolbar } from '../parts/forms.js';
import { VirtualTable } from '../parts/table.js';
import { fromNow, momentText, useClock } from '../parts/time.js';
import { Empty, LinkButton, Name, Page, number } from '../parts/ui.js';
import { href, setQuery } from '../router.js';
import { StateBadge } from './group/parts.js';
import { Group } from './group/one.js';

const STATES = ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'NotReady', 'Assigning', 'Reconciling', 'Stable', 'Dead'];

const MARKS = { stop: 'Something stops it', look: 'Something to look at' };

export default function Groups({ path, query }) {
  if (path.length) return html`<${Group} key=${path[0]} group=${path[0]} tab=${path[1]} />`;
  return html`<${List} query=${query} />`;
}

function List({ query }) {
  const version = useVersion(['groups', 'share-groups', 'streams-groups', 'topics']);
  const clock = useClock();
  const asked = { search: query.search, type: query.type, state: query.state };
  const load = async (offset, limit) => {
    const page = await get('/v1/groups', { ...asked, offset, limit, details: true, sort: 'name' });
    return { rows: page.groups, total: page.total };
  };
  const filtered = Object.values(asked).some(Boolean);
  return html`<${Page} title="Groups"
    actions=${html`<${LinkButton} href=${href('clock', { kind: 'offsets' })}>What expires next<//>`}>
    <${Toolbar}>
      <${Search} label="Search groups" value=${query.search} onValue=${(search) => setQuery({ search })} />
      <${Select} label="Type" hideLabel value=${query.type ?? ''} onValue=${(type) => setQuery({ type })}
        options=${[['', 'All types'], 'classic', 'consumer', 'share', 'streams']} />
      <${Select} label="State" hideLabel value=${query.state ?? ''} onValue=${(state) => setQuery({ state })}
        options=${[['', 'All states'], ...STATES]} />
    <//>
    <div class="section fill"><${VirtualTable} label="Groups" load=${load} version=${version} source=${JSON.stringify(asked)}
      href=${(row) => href('groups', row.group)}
      empty=${filtered ? html`<${Empty} title="No group fits">Change what is looked for.<//>`
        : html`<${Empty} title="No groups">A group is there once a consumer with a group.id has joined, or an offset was committed.<//>`}
      columns=${[
        { key: 'group', title: 'Group', width: 'minmax(90px, 3fr)', render: (row) => html`${MARKS[row.worst] ? html`<span class="row-mark"><span class=${`mark ${row.worst === 'stop' ? 'bad' : 'warn'}`} title=${MARKS[row.worst]}></span><span class="unseen">${MARKS[row.worst]}: </span></span>` : null}<${Name}>${row.group || '(empty name)'}<//>` },
        { key: 'type', title: 'Type', width: '80px', narrow: false },
        { key: 'state', title: 'State', width: 'minmax(80px, 150px)', render: (row) => html`<${StateBadge} state=${row.state} />` },
        { key: 'members', title: 'Members', width: '70px', align: 'end', narrow: false, render: (row) => number(row.members) },
        { key: 'lag', title: 'Lag', width: 'minmax(48px, 80px)', align: 'end', help: 'Records behind the committed offsets',
          render: (row) => (row.lag === null || row.lag === undefined || !row.offsets ? '–' : html`${row.lag > 0 ? html`<b>${number(row.lag)}</b>` : '0'}${row.partitions_without_offset > 0
            ? html`<span class="warn" title=${`${number(row.partitions_without_offset)} of its partitions with records have no committed offset: they are not in the lag`}> +?</span>` : null}`) },
        { key: 'offsets', title: 'Offsets', width: '70px', align: 'end', narrow: false, help: 'Partitions with a committed offset', render: (row) => number(row.offsets) },
        { key: 'expires', title: 'Next offset expires', width: '150px', narrow: false, render: (row) => expires(row, clock) },
      ]} /></div>
  <//>`;
}

function expires(row, clock) {
  if (!row.next_expiry_ms) return html`<span class="faint">${row.offsets ? 'stays' : '–'}</span>`;
  return html`<span title=${momentText(row.next_expiry_ms)}>${clock.known ? fromNow(row.next_expiry_ms, clock.now()) : momentText(row.next_expiry_ms)}</span>`;
}

