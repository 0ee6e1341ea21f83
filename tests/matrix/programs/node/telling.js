// What the Node.js programs share: the command line, and telling of a step.
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

export const [bootstrap, topic, group] = process.argv.slice(2)
export const partitions = [0, 1, 2, 3]
/** Records for each partition, the first time and the second. */
export const batch = 10
/** Where the members commit: in the middle of the second batch. */
export const middle = 15
const patience = 150_000

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

/** The messages of a batch, from this number on. */
export const messages = first =>
  partitions.flatMap(partition =>
    Array.from({ length: batch }, (_, index) => ({ partition, value: `${partition}-${first + index}` })))

/** What is told of commits at `middle`. */
export const committed = Object.fromEntries(partitions.map(partition => [partition, middle]))

/** Prints a line, and waits until the runner has looked at the broker. */
export async function tell (step, seen = {}) {
  console.log(JSON.stringify({ step, ...seen }))
  if ((await answers.next()).done) throw new Error('the runner is gone')
}

export async function until (what, done) {
  const deadline = Date.now() + patience
  while (!done()) {
    if (Date.now() > deadline) throw new Error(`not within ${patience} ms: ${what}`)
    await pause(10)
  }
}

/** Whether each has partitions and together they have all. */
export const shared = (...parts) =>
  parts.every(part => part.length) && parts.flat().sort().join() === partitions.join()

/** Plays a program to its end. */
export async function play (main) {
  try {
    await main()
    process.exit(0)
  } catch (error) {
    console.error(error)
    process.exit(1)
  }
}
