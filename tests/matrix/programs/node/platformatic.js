// @platformatic/kafka plays the scenario.
import { Admin, Consumer, ProduceAcks, Producer, stringDeserializers, stringSerializers } from '@platformatic/kafka'
import { batch, bootstrap, committed, group, messages, middle, partitions, play, shared, tell, topic, until } from './telling.js'

const connection = { clientId: 'matrix', bootstrapBrokers: [bootstrap] }

/** A batch to each partition, from this number on. */
async function produce (first) {
  const producer = new Producer({ ...connection, serializers: stringSerializers })
  await producer.send({ messages: messages(first).map(one => ({ topic, ...one })), acks: ProduceAcks.ALL })
  await producer.close()
}

class Member {
  rows = []

  async join () {
    this.consumer = new Consumer({
      ...connection,
      groupId: group,
      sessionTimeout: 45_000,
      heartbeatInterval: 200,
      maxWaitTime: 100,
      autocommit: false,
      deserializers: stringDeserializers
    })
    this.stream = await this.consumer.consume({ topics: [topic], mode: 'committed', fallbackMode: 'earliest' })
    this.stream.on('data', ({ partition, offset, value }) => this.rows.push([partition, Number(offset), value]))
    return this
  }

  get assigned () {
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

  take () {
    return this.rows.splice(0)
  }
}

play(async () => {
  await produce(0)
  await tell('produce')

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
  await first.leave()
  await second.leave()
  await tell('leave')

  const again = await new Member().join()
  await until('what is left', () => again.rows.length >= (2 * batch - middle) * partitions.length)
  await again.commit(2 * batch)
  await again.leave()
  await tell('resume', { records: again.take() })

  const admin = new Admin(connection)
  await admin.deleteConsumerGroupOffsets({ groupId: group, topics: [{ name: topic, partitionIndexes: [0] }] })
  await tell('delete_offsets')
  await admin.deleteGroups({ groups: [group] })
  await tell('delete_group')
  await admin.close()
})
