// A few entries of the journal, each in a line, and what became of one in words.
import { html } from '../lib.js';
import { href } from '../router.js';
import { errorsOf, isGone, isUnanswered, outcomeText } from './entries.js';
import { Table } from './table.js';
import { timeText } from './time.js';
import { Badge, Name } from './ui.js';

/** Entries of the journal in the order in which they are given. */
export const Requests = ({ label, entries, empty = null }) => html`<${Table} label=${label} rows=${entries} rowKey=${(row) => row.sequence}
  href=${(row) => href('journal', String(row.sequence))} empty=${empty} tight=${true} columns=${COLUMNS} />`;

const COLUMNS = [
  { key: 'time', title: 'Time', render: (row) => html`<time title=${row.broker_time}>${timeText(Date.parse(row.broker_time))}</time>` },
  { key: 'api', title: 'Request', render: (row) => (row.kind === 'request' ? html`${row.api} <span class="faint">v${row.api_version}</span>` : html`<span class="info">${row.text.replace(/^\s*\d+\s+\S+\s+/, '')}</span>`) },
  { key: 'about', title: 'Client and subject', narrow: false, grow: true, render: (row) => html`<${Name}>${row.client_id ?? ''}<//> <span class="soft"><${Name}>${
    [...(row.groups ?? []), ...(row.topics ?? [])].slice(0, 3).join(', ')}<//></span>` },
  { key: 'answer', title: 'Answer', line: true, render: answer },
];

function answer(row) {
  if (row.kind !== 'request') return '';
  if (row.outcome === 'pending') return html`<${Badge} tone="info">pending<//>`;
  if (row.outcome !== 'reply') return html`<${Badge} tone=${row.outcome === 'no_reply' || isGone(row) ? 'quiet' : 'bad'}>${outcomeText(row)}<//>`;
  const [error] = errorsOf(row);
  if (error) return html`<span class="bad">${error.name}</span>`;
  return html`<span class="faint">${row.fault ? 'after a fault' : 'ok'}</span>`;
}

// Every group's first steps have some of these, and who asks about a group that is gone: nobody is kept out by them.
const HARMLESS = ['MEMBER_ID_REQUIRED', 'GROUP_ID_NOT_FOUND', 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS'];

/** What kept a request from what it wanted, as a sentence without its end; null where nothing did. */
export function troubleText(row) {
  if (row.kind !== 'request') return null;
  const who = `${row.api} of ${row.client_id || row.peer || 'nobody'}`;
  if (row.outcome === 'pending') return row.fault ? `${who} is held by fault ${row.fault}` : `${who} has no answer yet`;
  if (isUnanswered(row)) return `${who} got no answer: ${outcomeText(row)}${row.fault ? ` by fault ${row.fault}` : ''}`;
  const error = errorsOf(row).find((each) => !HARMLESS.includes(each.name));
  return error ? `${who} was refused: ${error.name}${row.fault ? `, by fault ${row.fault}` : ''}` : null;
}
