// kafkajs plays the scenario.
import kafkajs from 'kafkajs'
import { batch, bootstrap, group, messages, play, topic } from './telling.js'

const kafka = new kafkajs.Kafka({ brokers: [bootstrap], logLevel: kafkajs.logLevel.NOTHING })

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

  leave () {
    return this.consumer.disconnect()
  }
}

async function deleteGroup () {
  const admin = kafka.admin()
  await admin.connect()
  await admin.deleteGroups([group])
  const { groups } = await admin.listGroups()
  if (groups.some(one => one.groupId === group)) throw new Error('the deleted group is listed')
  await admin.disconnect()
}

play({ produce, join: () => new Member().join(), deleteOffset: 'its admin client has no call for it', deleteGroup })
