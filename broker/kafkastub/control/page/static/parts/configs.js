// A configuration, value by value, with where each comes from.
import { html } from '../lib.js';
import { href, setQuery, usePlace } from '../router.js';
import { useData } from './data.js';
import { Choice, Search, Toolbar } from './forms.js';
import { VirtualTable } from './table.js';
import { Badge, Button, Empty, KeyValues, Loaded, Section } from './ui.js';

const SOURCES = {
  topic: ['the topic', 'info'],
  dynamic_broker: ['set by a client', 'warn'],
  dynamic_default_broker: ['set by a client, for all', 'warn'],
  static_broker: ['given at the start', 'info'],
  default: ['default', 'quiet'],
  kafkastub: ['kafkastub', 'quiet'],
};

const Source = ({ source }) => {
  const [text, tone] = SOURCES[source] ?? [source, 'quiet'];
  return html`<${Badge} tone=${tone}>${text}<//>`;
};

const shown = (value, sensitive) => (sensitive ? html`<span class="faint">not shown</span>`
  : value === null ? html`<span class="faint">none</span>` : value === '' ? html`<span class="faint">empty</span>` : html`<span class="mono">${value}</span>`);

/** All values of /v1/configs; the search, what is shown and the open one are in the address. */
export function ConfigTable({ params, query }) {
  const configs = useData('/v1/configs', params, { subjects: ['config', 'topics'] });
  const { path } = usePlace();
  const { search = '', open } = query;
  const which = query.which ?? 'all';
  return html`<${Toolbar}>
      <${Search} label="Search configurations" value=${search} onValue=${(value) => setQuery({ search: value })} />
      <${Choice} label="Which" value=${which} options=${[['all', 'All'], ['changed', 'Not default']]} onValue=${(value) => setQuery({ which: value === 'all' ? null : value })} />
    <//>
    <${Loaded} of=${configs}>${({ configs: all }) => {
      const wanted = search.toLowerCase();
      const rows = all.filter((row) => (which === 'all' || !['default', 'kafkastub'].includes(row.source))
        && (!wanted || `${row.name} ${row.value ?? ''} ${row.documentation ?? ''}`.toLowerCase().includes(wanted)));
      const one = all.find((row) => row.name === open);
      return html`<div class=${`split ${one ? 'open' : ''}`}>
        <div><${VirtualTable} label="Configurations" source=${`${search} ${which}`} version=${configs.data}
          load=${async (offset, limit) => ({ rows: rows.slice(offset, offset + limit), total: rows.length })}
          selected=${(row) => row.name === open}
          href=${(row) => href(...path, { ...query, open: row.name })}
          empty=${which === 'all' ? html`<${Empty} title="Nothing has this in its name or value" />`
            : html`<${Empty} title="Everything is as it is by default">Give --config at the start, or let a client alter it.<//>`}
          columns=${[
            { key: 'name', title: 'Name', width: 'minmax(160px, 3fr)', mono: true },
            { key: 'value', title: 'Value', width: 'minmax(90px, 2fr)', render: (row) => shown(row.value, row.sensitive) },
            { key: 'source', title: 'Comes from', width: '160px', narrow: false, render: (row) => html`<${Source} source=${row.source} />` },
          ]} /></div>
        ${one ? html`<${One} entry=${one} />` : null}
      </div>`;
    }}<//>`;
}

/** It may be that of another name, in another unit. */
function defaultOf(entry) {
  const found = entry.sources.find((source) => source.source === 'default');
  if (!found) return null;
  return found.name === entry.name ? shown(found.value, entry.sensitive) : html`<span class="mono">${found.name} = ${found.value}</span>`;
}

const One = ({ entry }) => html`<aside class="detail" aria-label=${entry.name} tabindex="0">
  <div class="detail-head"><h2 class="mono">${entry.name}</h2><${Button} tone="plain small" label="Close" onClick=${() => setQuery({ open: null })}>✕<//></div>
  <div class="detail-body">
    ${entry.documentation ? html`<p>${entry.documentation}</p>` : null}
    <${KeyValues} items=${[
      ['Value', shown(entry.value, entry.sensitive)],
      ['Default', defaultOf(entry)],
      ['Type', entry.type],
      ['Can be changed', entry.read_only ? 'at the start only' : 'by a client, at any time'],
    ]} />
    <${Section} title="What says something of it" note="the first one counts">
      <div class="table-frame" tabindex="0" role="group" aria-label="Sources"><table><tbody>${entry.sources.map((source) => html`<tr>
        <td class="mono">${source.name}</td><td>${shown(source.value, entry.sensitive)}</td><td><${Source} source=${source.source} /></td></tr>`)}</tbody></table></div>
    <//>
  </div>
</aside>`;
