// "To look at": what is out of order, each with where it is seen or undone.
import { html } from '../../lib.js';
import { many } from '../../parts/names.js';
import { Name, Section } from '../../parts/ui.js';
import { href } from '../../router.js';

export function Troubles({ data, findings }) {
  const { stopped, behind, more, unseen, left, hanging, nodes, absent, absentMore } = findings;
  const down = data.nodes - data.nodes_running;
  const items = [
    down > 0 && { tone: 'bad', text: `${down} of ${data.nodes} nodes ${down === 1 ? 'is' : 'are'} stopped${named(nodes.down.map((node) => `node ${node}`))}`, href: href('nodes') },
    data.leaderless > 0 && { tone: 'bad', text: `${many(data.leaderless, 'partition has', 'partitions have')} no leader: nothing can be read or written there${named(nodes.leaderless.map((each) => `${each.topic}-${each.partition}`))}`, href: href('nodes') },
    ...absent,
    absentMore > 0 && { tone: 'bad', text: `and ${many(absentMore, 'more group')} that ${absentMore === 1 ? 'is' : 'are'} not there, with requests that are refused or held`, href: href('journal') },
    ...stopped,
    more > 0 && { tone: 'bad', text: `and ${many(more, 'more group is', 'more groups are')} stopped or behind`, href: href('groups') },
    unseen > 0 && { tone: 'quiet', text: `${many(unseen, 'more group was', 'more groups were')} not looked at: all are in the list`, href: href('groups') },
    hanging.length > 0 && { tone: 'warn', text: `${many(hanging.length, 'transaction hangs', 'transactions hang')}: readers of committed records get no further${named(hanging.map((each) => `${each.topic}-${each.partition}`))}`, href: href('transactions', 'hanging') },
    data.held > 0 && { tone: 'warn', text: `${many(data.held, 'request is', 'requests are')} held until somebody releases ${data.held === 1 ? 'it' : 'them'}`, href: href('faults') },
    data.faults > data.faults_spent && { tone: 'warn', text: `${many(data.faults - data.faults_spent, 'fault is', 'faults are')} set`, href: href('faults') },
    data.chaos && { tone: 'warn', text: 'Chaos is on: requests meet trouble by a seed', href: href('chaos') },
    ...behind,
    data.frozen && { tone: 'info', text: 'The clock stands still', href: href('clock') },
    left.length > 0 && { tone: 'quiet', text: `Nobody reads for ${many(left.length, 'group')} with records left: ${left.slice(0, 4).map((each) => each.group).join(', ')}${left.length > 4 ? ' …' : ''}`, href: href('groups', { state: 'Empty' }) },
  ].filter(Boolean);
  return html`<${Section} title="To look at" note="why a client may wait, or get nothing">
    ${items.length ? html`<ul class="list card">${items.map((item) => html`<li><a class="list-item" href=${item.href}>
      <span class=${`mark ${item.tone}`} aria-hidden="true"></span><span class=${`list-text ${item.tone === 'quiet' ? 'soft' : ''}`}>${item.group ? html`<b><${Name}>${item.group}<//></b> ` : null}<${Name}>${item.text}<//></span></a></li>`)}</ul>`
      : html`<div class="card soft">Nothing: every node runs, no fault is set, and no group lacks anything.</div>`}<//>`;
}

/** ` (orders-0, orders-1 …)` */
const named = (names) => (names.length ? ` (${names.slice(0, 4).join(', ')}${names.length > 4 ? ' …' : ''})` : '');
