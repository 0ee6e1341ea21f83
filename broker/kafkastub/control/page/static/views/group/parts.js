// What the views of groups share.
import { html } from '../../lib.js';
import { partitionsText } from '../../parts/names.js';
import { Badge, Empty } from '../../parts/ui.js';
import { href } from '../../router.js';

const TONES = { Stable: 'good', Empty: 'quiet', Dead: 'quiet', NotReady: 'bad' };

/** The state of a group in its colour. */
export const StateBadge = ({ state }) => html`<${Badge} tone=${TONES[state] ?? 'warn'}>${state}<//>`;

export const SUBJECTS = ['groups', 'share-groups', 'streams-groups'];

/** Why an offset goes, or stays, in few words. The route has the whole sentence. */
export const RULES = {
  own_retention: 'its own retention',
  group_empty: 'group is empty',
  not_subscribed: 'not subscribed',
  simple: 'never had members',
  subscribed: 'subscribed',
  active: 'has members',
  pending: 'transaction open',
  kept_for_ever: 'kept for ever',
};

/** Partitions in few words, all of them in the title. */
export function Places({ places, empty = 'none' }) {
  if (!places?.length) return html`<span class="faint">${empty}</span>`;
  const text = partitionsText(places);
  return html`<span title=${text}>${text.length > 160 ? `${text.slice(0, 160)} … (${places.length})` : text}</span>`;
}

const LEVELS = { stop: ['bad', 'Stops it'], look: ['warn', 'Check'], fine: ['good', 'In order'] };

/** What was found out about why records do not come. */
export function Findings({ findings }) {
  if (!findings.length) return html`<${Empty} title="Nothing was found" />`;
  return html`<ul class="findings card" aria-label="Why members get records or not">${findings.map((one) => {
    const [tone, word] = LEVELS[one.level];
    const to = link(one);
    return html`<li><${Badge} tone=${tone}>${word}<//><span>${one.sentence}${
      to ? html` <a href=${to[0]}>${to[1]}</a>` : null}</span></li>`;
  })}</ul>`;
}

function link(one) {
  switch (one.subject) {
    case 'fault': return [href('faults'), 'Go to the faults'];
    case 'chaos': return [href('chaos'), 'Go to chaos'];
    case 'node': return [href('nodes'), 'Go to the nodes'];
    case 'topic': return [href('topics'), 'Go to the topics'];
    case 'partition': return [href('topics', one.topic, 'records', { partition: one.partition, offset: one.offset }), 'See its records'];
    case 'transaction':
      return one.name ? [href('transactions', one.name), 'See the transaction'] : [href('transactions', 'hanging'), 'See hanging transactions'];
    case 'quota': return [href('quotas'), 'Go to the quotas'];
    case 'acl': return [href('acls'), 'Go to the ACLs'];
    case 'journal': return [href('journal', { client_id: one.name }), `Requests of client ${one.name}`];
    default: return null;
  }
}
