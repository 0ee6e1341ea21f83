// A group that is not there: what clients asked in its name, how they were answered, and what else these were refused.
import { html } from '../../lib.js';
import { useData } from '../../parts/data.js';
import { Requests, troubleText } from '../../parts/requests.js';
import { Empty, Loaded, Name, Section } from '../../parts/ui.js';
import { href } from '../../router.js';

const SHOWN = 12;
const MOST_CLIENTS = 3; // that are looked into
const LOOKED_THROUGH = 100; // requests of each
const NEVER_WHY = ['Fetch', 'Produce', 'ApiVersions', 'Heartbeat'];
const LEAST_MS = 3000; // the journal is looked through for it, all of it at worst

export function Missing({ group }) {
  const asked = useData('/v1/journal', { group, limit: SHOWN }, { subjects: ['journal'], least: LEAST_MS });
  const entries = [...(asked.data?.entries ?? [])].reverse();
  const clients = [...new Set(entries.map((each) => each.client_id).filter(Boolean))].slice(0, MOST_CLIENTS);
  return html`
    <p class="hint">There is no group of this name. It is there once a member has joined or an offset is committed, and then this view shows it.</p>
    <${Section} title="Asked in its name" note="by Kafka's clients, the newest first" actions=${html`<a href=${href('journal', { group })}>All of these in the journal</a>`}>
      <${Loaded} of=${asked}>${() => html`<${Asked} entries=${entries} />`}<//><//>
    ${clients.map((client) => html`<${OfClient} key=${client} client=${client} group=${group} />`)}`;
}

function Asked({ entries }) {
  const why = entries.map(troubleText).find(Boolean);
  return html`
    ${why ? html`<p class="hint bad"><${Name}>${why}<//></p>` : null}
    <${Requests} label="Asked in its name" entries=${entries} empty=${html`<div class="card"><${Empty} title="Nobody has asked">No request that the journal still has names this group. Is a client's group.id spelt like this?<//></div>`} />`;
}

/** What a client that speaks for the group was refused elsewhere: a topic that is not there, or that it may not read. */
function OfClient({ client, group }) {
  const asked = useData('/v1/journal', { client_id: client, not_api: NEVER_WHY, limit: LOOKED_THROUGH }, { subjects: ['journal'], least: LEAST_MS });
  const refused = (asked.data?.entries ?? []).filter((each) => !each.groups?.includes(group) && troubleText(each)).reverse().slice(0, SHOWN);
  if (!refused.length) return null;
  return html`<${Section} title=${html`What else <${Name}>${client}<//> was refused`} actions=${html`<a href=${href('journal', { client_id: client })}>All of its requests</a>`}>
    <p class="hint bad"><${Name}>${troubleText(refused[0])}${refused[0].topics?.length ? ` (${refused[0].topics.slice(0, 3).join(', ')})` : ''}<//></p>
    <${Requests} label=${`Refused to ${client}`} entries=${refused} /><//>`;
}
