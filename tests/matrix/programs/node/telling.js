// What the Node.js programs share: the scenario, the command line, and telling of a step.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

/** The protocol of the group is classic, or consumer (KIP-848). */
export const [bootstrap, topic, group, protocol = 'classic'] = process.argv.slice(2)
const partitions = [0, 1, 2, 3]
/** Records for each partition, the first time and the second. */
export const batch = 10
/** Where the members commit: in the middle of the second batch. */
const middle = 15
const patience = 150_000

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

/** The messages of a batch, from this number on. */
export const messages = first =>
  partitions.flatMap(partition =>
    Array.from({ length: batch }, (_, index) => ({ partition, value: `${partition}-${first + index}` })))

/** Prints a line, and waits until the runner has looked at the broker. */
async function tell (step, seen = {}) {
  console.log(JSON.stringify({ step, ...seen }))
  if ((await answers.next()).done) throw new Error('the runner is gone')
}

async function until (what, done) {
  const deadline = Date.now() + patience
  while (!done()) {
    if (Date.now() > deadline) throw new Error(`not within ${patience} ms: ${what}`)
    await pause(10)
  }
}

/** Whether each has partitions and together they have all. */
const shared = (...parts) =>
  parts.every(part => part.length) && parts.flat().sort().join() === partitions.join()

/**
 * Plays the scenario with a client and ends the program. What the client does its own way:
 * - `produce(first)`, a batch to each partition, from this number on; gives the offsets, where the client tells them;
 * - `join()` gives a member: it adds to its `rows` what it reads, has the partitions `assigned` in order, and can
 *   `commit(offset)` in each of these and `leave()`;
 * - `notes`, where there are any: by step, what is to be said of it;
 * - where it speaks the consumer protocol, `noExpression` and `noReturn`: why it cannot subscribe by a regular expression,
 *   and why a member with a group instance id cannot go and come back;
 * - `deleteOffset()`, the one committed in partition 0, and `deleteGroup()`; a text in the place of one tells why the
 *   client cannot.
 */
export async function play (client) {
  try {
    await scenario(client)
    process.exit(0)
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
}

async function scenario (client) {
  const all = batch * partitions.length
  const take = member => member.rows.splice(0)
  const administer = async (step, action) => {
    if (typeof action === 'string') return tell(step, { cannot: action })
    await action()
    await tell(step)
  }
  await tell('produce', { offsets: await client.produce(0) })

  const first = await client.join()
  await until('all records', () => first.rows.length >= all)
  await first.commit(batch)
  await tell('consume', { records: take(first) })

  const second = await client.join()
  await until('both have partitions', () => shared(first.assigned, second.assigned))
  await tell('rebalance', { members: [first.assigned, second.assigned], note: client.notes?.rebalance })
  await client.produce(batch)
  await until('the second batch', () => first.rows.length + second.rows.length >= all)
  await tell('share', { records: [take(first), take(second)] })
  await first.commit(middle)
  await second.commit(middle)
  await tell('commit', { committed: Object.fromEntries(partitions.map(partition => [partition, middle])) })
  await first.leave()
  await second.leave()
  await tell('leave')

  const again = await client.join()
  await until('what is left', () => again.rows.length >= (2 * batch - middle) * partitions.length)
  await again.commit(2 * batch)
  await again.leave()
  await tell('resume', { records: take(again) })

  if (protocol === 'consumer') await tell('expression', { cannot: client.noExpression })

  await administer('delete_offsets', client.deleteOffset)
  await administer('delete_group', client.deleteGroup)
  if (protocol === 'consumer') {
    await tell('static', { cannot: client.noReturn })
    await tell('return', { cannot: client.noReturn })
  }
}
