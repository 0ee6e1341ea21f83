// Names in addresses of routes, many partitions in few words, and what is written in lines.

/** `a/b` as a part of a path: `a%2Fb`. */
export const at = (...names) => names.map(encodeURIComponent).join('/');

/** [{topic, partition}] as `orders 0–2, 5; payments 1`; '' for none. */
export const partitionsText = (places) => numbered(places.map((one) => [one.topic, one.partition]), ' ');

/** [{subtopology, partition}] as `0_0–2, 5; 1_1`; '' for none. */
export const tasksText = (tasks) => numbered(tasks.map((one) => [one.subtopology, one.partition]), '_');

function numbered(places, between) {
  const found = new Map();
  for (const [name, number] of places) {
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(number);
  }
  return [...found].map(([name, numbers]) => `${name}${between}${rangesText(numbers)}`).join('; ');
}

/** [0, 1, 2, 5] as `0–2, 5`. */
function rangesText(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  const ranges = [];
  for (const number of sorted) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}

/** `PENDING_REVOCATION` as `pending revocation`. */
export const words = (constant) => constant.toLowerCase().replaceAll('_', ' ');

/** `1 group`, `3 groups`. */
export const many = (count, one, others = `${one}s`) => `${count?.toLocaleString('en-US') ?? '–'} ${count === 1 ? one : others}`;

/** Lines of names and values, a sign between them, as an object. */
export function pairs(text, sign) {
  const lines = text.split('\n').map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(lines.map((line) => {
    const place = line.indexOf(sign);
    return place < 0 ? [line, ''] : [line.slice(0, place).trim(), line.slice(place + sign.length).trim()];
  }));
}
