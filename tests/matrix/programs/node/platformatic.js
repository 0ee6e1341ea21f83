// @platformatic/kafka plays the scenario.
import { Admin, Consumer, ProduceAcks, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { bootstrap, group, messages, play, protocol, topic } from './telling.js'

const connection = { clientId: 'matrix', bootstrapBrokers: [bootstrap] }

async function produce (first) {
  const producer = new Producer({ ...connection, serializers: stringSerializers })
  await producer.send({ messages: messages(first).map(one => ({ topic, ...one })), acks: ProduceAcks.ALL })
  await producer.close()
}

const late = 'a fetch from before the rebalance can return records of another member\'s partition, so the program waits until it ends'

class Member {
  rows = []
  /** Whether a fetch has ended since the last rebalance. */
  settled = false

  async join () {
    const classic = { sessionTimeout: 45_000, heartbeatInterval: 200 }
    this.consumer = new Consumer({
      ...connection,
      groupId: group,
      ...(protocol === 'classic' ? classic : { groupProtocol: 'consumer' }),
      maxWaitTime: 100,
      autocommit: false,
      deserializers: stringDeserializers
    })
    this.consumer.on('consumer:group:join', () => { this.settled = false })
    this.stream = await this.consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
    this.stream.on('fetch', () => { this.settled = true })
    this.stream.on('data', ({ partition, offset, value }) => this.rows.push([partition, Number(offset), value]))
    return this
  }

  get assigned () {
    if (!this.settled) return []
    const found = this.consumer.assignments?.find(one => one.topic === topic)
    return [...(found?.partitions ?? [])].sort()
  }

  async commit (offset) {
    const offsets = this.assigned.map(partition => ({ topic, partition, offset: BigInt(offset), leaderEpoch: -1 }))
    await this.consumer.commit({ offsets })
  }

  async leave () {
    await this.stream.close()
    await this.consumer.close()
  }
}

async function administer (work) {
  const admin = new Admin(connection)
  await work(admin)
  await admin.close()
}

const places = [{ name: topic, partitionIndexes: [0] }]

play({
  notes: { rebalance: late },
  produce,
  join: () => new Member().join(),
  noExpression: 'it can only subscribe to names',
  noReturn: 'its last heartbeat says of a static member, too, that it leaves for good',
  deleteOffset: () => administer(admin => admin.deleteConsumerGroupOffsets({ groupId: group, topics: places })),
  deleteGroup: () => administer(admin => admin.deleteGroups({ groups: [group] }))
})
