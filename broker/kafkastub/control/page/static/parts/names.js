// Names in addresses of routes, and many partitions in few words.

/** `a/b` as a part of a path: `a%2Fb`. */
export const at = (...names) => names.map(encodeURIComponent).join('/');

/** [{topic, partition}] as `orders 0–2, 5; payments 1`; '' for none. */
export function partitionsText(places) {
  const topics = new Map();
  for (const { topic, partition } of places) {
    if (!topics.has(topic)) topics.set(topic, []);
    topics.get(topic).push(partition);
  }
  return [...topics].map(([topic, indexes]) => `${topic} ${rangesText(indexes)}`).join('; ');
}

/** [0, 1, 2, 5] as `0–2, 5`. */
export function rangesText(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const ranges = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}

/** `1 group`, `3 groups`. */
export const many = (count, one, others = `${one}s`) => `${count.toLocaleString('en-US')} ${count === 1 ? one : others}`;

/** Whether the client of a journal's entry went away before its answer came: no fault took it. */
export const isGone = (entry) => entry.outcome === 'dropped' && !entry.fault;

/** What became of a request, in words. */
export const outcomeText = (entry) => (isGone(entry) ? 'client gone' : entry.outcome.replace('_', ' '));
