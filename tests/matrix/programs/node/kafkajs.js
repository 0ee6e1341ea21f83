// kafkajs plays the scenario.
import kafkajs from 'kafkajs'
import { batch, bootstrap, committed, group, messages, middle, partitions, play, shared, tell, topic, until } from './telling.js'

const kafka = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING })

/** A batch to each partition, from this number on; gives the offsets. */
async function produce (first) {
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner })
  await producer.connect()
  const placed = await producer.send({ topic, messages: messages(first), acks: -1 })
  await producer.disconnect()
  return Object.fromEntries(placed.map(({ partition, baseOffset }) =>
    [partition, Array.from({ length: batch }, (_, index) => Number(baseOffset) + index)]))
}

class Member {
  rows = []
  assigned = []

  async join () {
    this.consumer = kafka.consumer({ groupId: group, sessionTimeout: 45_000, heartbeatInterval: 200, maxWaitTimeInMs: 100 })
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => {
      this.assigned = (payload.memberAssignment[topic] ?? []).sort()
    })
    this.consumer.on(this.consumer.events.REBALANCING, () => { this.assigned = [] })
    await this.consumer.connect()
    await this.consumer.subscribe({ topics: [topic], fromBeginning: true })
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        this.rows.push([partition, Number(message.offset), message.value.toString()])
      }
    })
    return this
  }

  async commit (offset) {
    await this.consumer.commitOffsets(this.assigned.map(partition => ({ topic, partition, offset: `${offset}` })))
  }

  take () {
    return this.rows.splice(0)
  }
}

play(async () => {
  await tell('produce', { offsets: await produce(0) })

  const first = await new Member().join()
  await until('all records', () => first.rows.length >= batch * partitions.length)
  await first.commit(batch)
  await tell('consume', { records: first.take() })

  const second = await new Member().join()
  await until('both have partitions', () => shared(first.assigned, second.assigned))
  await tell('rebalance', { members: [first.assigned, second.assigned] })
  await produce(batch)
  await until('the second batch', () => first.rows.length + second.rows.length >= batch * partitions.length)
  await tell('share', { records: [first.take(), second.take()] })
  await first.commit(middle)
  await second.commit(middle)
  await tell('commit', { committed })
  await first.consumer.disconnect()
  await second.consumer.disconnect()
  await tell('leave')

  const again = await new Member().join()
  await until('what is left', () => again.rows.length >= (2 * batch - middle) * partitions.length)
  await again.commit(2 * batch)
  await again.consumer.disconnect()
  await tell('resume', { records: again.take() })

  await tell('delete_offsets', { cannot: 'its admin client has no call for it' })
  const admin = kafka.admin()
  await admin.connect()
  await admin.deleteGroups([group])
  const { groups } = await admin.listGroups()
  if (groups.some(one => one.groupId === group)) throw new Error('the deleted group is listed')
  await tell('delete_group')
  await admin.disconnect()
})
