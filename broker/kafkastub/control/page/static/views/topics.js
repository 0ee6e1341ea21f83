// Topics: all of them, one with its partitions, its records.
import { get } from '../api.js';
import { html } from '../lib.js';
import { useVersion } from '../parts/data.js';
import { VirtualTable } from '../parts/table.js';
import { Empty, Name, Page, number, bytesText } from '../parts/ui.js';
import { href, setQuery } from '../router.js';
import { Search, Toolbar } from '../parts/forms.js';

export default function Topics({ path, query }) {
  return html`<${List} query=${query} />`;
}

function List({ query }) {
  const version = useVersion(['topics']);
  const load = async (offset, limit) => {
    const page = await get('/v1/topics', { offset, limit, search: query.search });
    return { rows: page.topics, total: page.total };
  };
  return html`<${Page} title="Topics">
    <${Toolbar}><${Search} label="Search topics" value=${query.search} onValue=${(search) => setQuery({ search })} /><//>
    <div class="section fill"><${VirtualTable} label="Topics" load=${load} version=${version} source=${query.search ?? ''}
      href=${(row) => href('topics', row.name)}
      empty=${html`<${Empty} title="No topics">Create one here, or let a client create it.<//>`}
      columns=${[
        { key: 'name', title: 'Name', width: 'minmax(160px, 3fr)', render: (row) => html`<${Name}>${row.name}<//>` },
        { key: 'partitions', title: 'Partitions', width: '90px', align: 'end', render: (row) => number(row.partitions) },
        { key: 'records', title: 'Offsets', width: '110px', align: 'end', render: (row) => number(row.records) },
        { key: 'size', title: 'Size', width: '90px', align: 'end', narrow: false, render: (row) => bytesText(row.size_bytes) },
      ]} /></div>
  <//>`;
}
