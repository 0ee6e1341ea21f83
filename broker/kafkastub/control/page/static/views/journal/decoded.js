// One entry: its fields beside its bytes. A click on a field shows its bytes, a click on a byte its field.
import { html, useEffect, useState } from '../../lib.js';
import { bytesOf, hexText } from '../../parts/bytes.js';
import { useData } from '../../parts/data.js';
import { errorsOf, isGone, outcomeText } from '../../parts/entries.js';
import { Badge, Button, Copy, KeyValues, LinkButton, Loaded, bytesText, number } from '../../parts/ui.js';
import { href } from '../../router.js';
import { Fields, fieldAt } from './fields.js';
import { Hex } from './hex.js';

const MOST_BYTES = 1 << 20;

export function Decoded({ sequence, close }) {
  const [all, setAll] = useState(false);
  const [pending, setPending] = useState(false);
  const found = useData(`/v1/journal/${sequence}`, all ? { bytes: MOST_BYTES, fields: 10_000 } : {}, { subjects: pending ? ['journal'] : [] });
  const outcome = found.data?.entry.outcome;
  useEffect(() => setPending(outcome === 'pending'), [outcome]); // its answer is to come
  return html`<section class="detail" aria-label=${`Entry ${sequence}`}>
    <div class="detail-head"><h2>Entry ${number(sequence)}</h2><a class="button plain" href=${close} aria-label="Close">✕</a></div>
    <div class="detail-body"><${Loaded} of=${found}>${(data) => html`
      <${Head} entry=${data.entry} />
      ${data.request ? html`<${Frame} title="Request" frame=${data.request} all=${all} setAll=${setAll} />` : null}
      ${data.response ? html`<${Frame} title="Answer" frame=${data.response} all=${all} setAll=${setAll} />`
        : data.request ? html`<p class="soft">There is no answer${data.entry.outcome === 'pending' ? ' yet' : ''}: ${outcomeText(data.entry)}.</p>` : null}
      ${data.entry.request_message ? html`<${Without} entry=${data.entry} />` : null}`}<//></div>
  </section>`;
}

function Head({ entry }) {
  const errors = errorsOf(entry);
  return html`<div class="row"><b>${entry.api}</b>${entry.kind === 'request' ? html` <span class="soft">version ${entry.api_version}</span>` : null}
      ${errors.length ? errors.map((error) => html`<${Badge} tone="bad">${error.name}${error.count > 1 ? ` × ${error.count}` : ''}<//>`)
        : html`<${Badge} tone=${entry.outcome === 'reply' ? 'good' : isGone(entry) ? 'quiet' : 'warn'}>${outcomeText(entry)}<//>`}
      ${entry.fault ? html`<a href=${href('faults')}><${Badge} tone="warn">fault ${entry.fault}<//></a>` : null}</div>
    <details><summary class="soft">${[entry.broker_time.replace('T', ' ').replace('+00:00', ''), entry.duration_us === null ? null : `took ${(entry.duration_us / 1000).toFixed(2)} ms`,
      entry.client_id ?? entry.peer].filter(Boolean).join(', ')}</summary><${KeyValues} items=${[
      entry.client_id !== null && ['Client id', html`<a href=${href('journal', { client_id: entry.client_id })}>${entry.client_id}</a>`],
      entry.peer && ['From', `${entry.peer}, connection ${entry.connection_id}`],
      entry.software_name && ['Software', `${entry.software_name} ${entry.software_version}`],
      entry.principal && ['Principal', entry.principal],
      entry.listener && ['Asked', `node ${entry.node_id}, listener ${entry.listener}`],
      entry.groups.length > 0 && ['Group', html`<span class="row">${entry.groups.slice(0, 5).map((group) => html`<a href=${href('groups', group)}>${group}</a>`)}</span>`],
      ['Machine time', entry.wall_time],
    ]} /></details>
    ${entry.kind === 'request' && entry.client_id !== null ? html`<div class="row"><${LinkButton} tone="small" href=${href('faults', { api: entry.api, client_id: entry.client_id })}>Add a fault for such requests<//></div><${Beside} entry=${entry} />` : null}`;
}

/** What the same client asked before this and after it. */
function Beside({ entry }) {
  const before = useData('/v1/journal', { client_id: entry.client_id, before: entry.sequence, limit: 2 }, { quiet: true });
  const after = useData('/v1/journal', { client_id: entry.client_id, since: entry.sequence + 1, limit: 2 }, { quiet: true });
  const links = (found) => (found.data?.entries.length ? found.data.entries.map((each) => html` <a class="whole" href=${
    href('journal', String(each.sequence), { client_id: entry.client_id })}>${each.api} (${number(each.sequence)})</a>`) : ' nothing');
  if (!before.data || !after.data) return null;
  return html`<p class="hint">Of the same client before this:${links(before)}; after it:${links(after)}.</p>`;
}

function Frame({ title, frame, all, setAll }) {
  const [chosen, setChosen] = useState(null);
  const bytes = bytesOf({ base64: frame.bytes });
  const cut = bytes.length < frame.size;
  return html`<div class="stack">
    <div class="row"><h3>${title}</h3><span class="soft">${bytesText(frame.size)}</span>
      ${cut && !all ? html`<${Button} tone="small" onClick=${() => setAll(true)}>Show more of it<//>` : null}
      <${Copy} text=${hexText(bytes)} label="Copy as hex" /></div>
    ${frame.why ? html`<p class="hint warn">${frame.why}</p>` : null}
    <p class="soft" role="status">${chosen === null ? 'Choose a field to see its bytes, or a byte to see its field.' : html`<${Chosen} field=${fieldAt(frame.fields, chosen.path)} />`}</p>
    <div class="frame-split">
      <${Fields} label=${`Fields of the ${title.toLowerCase()}`} fields=${frame.fields} chosen=${chosen} choose=${setChosen} />
      <${Hex} label=${`Bytes of the ${title.toLowerCase()}`} bytes=${bytes} size=${frame.size} fields=${frame.fields} chosen=${chosen} choose=${setChosen} />
    </div>
  </div>`;
}

/** Which bytes are marked: from the first to the last, counted from 0. */
const Chosen = ({ field }) => html`${field.end > field.start
  ? html`<b class="num">${field.end - field.start === 1 ? `Byte ${field.start}` : `Bytes ${field.start}–${field.end - 1}`}</b>` : html`<b>No bytes</b>`}: ${field.name}, ${field.type}`;

/** Of a frame that may hold secrets there are only the fields, without them. */
const Without = ({ entry }) => html`<div class="stack"><h3>Fields without secrets</h3>
  <pre class="code" tabindex="0">${JSON.stringify({ request: entry.request_message, answer: entry.response_message }, null, 2)}</pre></div>`;
