// Plays what tests/registry/test_other_clients.py asks of each client, and prints what it saw as one line of JSON.
const { SchemaRegistry, SchemaType, COMPATIBILITY } = require('@kafkajs/confluent-schema-registry')

const [host, asked] = process.argv.slice(2)
const { one, two, refused, json, protobuf } = JSON.parse(asked)

async function play () {
  const registry = new SchemaRegistry({ host })
  const keep = { subject: 'orders-value', compatibility: COMPATIBILITY.BACKWARD }
  const avro = text => ({ type: SchemaType.AVRO, schema: text })
  const first = await registry.register(avro(one), keep)
  const written = await registry.encode(first.id, { id: 7 })
  const second = await registry.register(avro(two), keep)
  const later = await registry.encode(second.id, { id: 8, note: 'x' })
  const error = await registry.register(avro(refused), keep).then(() => null, each => each)
  const fresh = new SchemaRegistry({ host })
  const read = async (bytes, readerSchema) =>
    JSON.parse(JSON.stringify(await fresh.decode(bytes, readerSchema && { [SchemaType.AVRO]: { readerSchema } })))
  const old = await read(written, JSON.parse(two))
  const asJson = await registry.register({ type: SchemaType.JSON, schema: json }, { subject: 'json-value' })
  const asProtobuf = await registry.register(
    { type: SchemaType.PROTOBUF, schema: protobuf }, { subject: 'protobuf-value' })
  const unknown = await registry.getLatestSchemaId('nothing').then(() => null, each => each)
  const hex = async (id, value) => (await registry.encode(id, value)).toString('hex')
  return {
    ids: [first.id, second.id, asJson.id, asProtobuf.id],
    latest: await registry.getLatestSchemaId('orders-value'),
    again: (await registry.register(avro(one), keep)).id,
    refused: error && { status: error.status ?? null, message: error.message },
    unknown: unknown && { status: unknown.status ?? null, message: unknown.message },
    old,
    new: await read(later),
    written: {
      orders: [written.toString('hex'), later.toString('hex')],
      json: [await hex(asJson.id, { id: 7 })],
      protobuf: [await hex(asProtobuf.id, { id: 7 })]
    }
  }
}

play().then(seen => console.log(JSON.stringify(seen)))
