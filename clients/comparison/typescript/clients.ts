import { Kafka, logLevel, type Consumer } from "kafkajs";

/** kafkajs, and what tests do with it. */
export class Clients {
  readonly kafka: Kafka;
  private readonly open: { disconnect(): Promise<void> }[] = [];

  constructor(brokers: string[], clientId = "one") {
    this.kafka = new Kafka({ clientId, brokers, logLevel: logLevel.NOTHING, retry: { initialRetryTime: 20 } });
  }

  async send(value: string, transactionalId?: string) {
    const producer = this.kafka.producer(
      transactionalId === undefined ? {} : { transactionalId, idempotent: true, maxInFlightRequests: 1 },
    );
    this.open.push(producer);
    await producer.connect();
    const sender = transactionalId === undefined ? producer : await producer.transaction();
    await sender.send({ topic: "orders", messages: [{ partition: 0, value }] });
  }

  /** A member of the group; the values that it gets, as they come. */
  async member(groupId = "shipping"): Promise<{ consumer: Consumer; first: Promise<string | undefined> }> {
    const consumer = this.kafka.consumer({ groupId, maxWaitTimeInMs: 20, heartbeatInterval: 50 });
    this.open.push(consumer);
    await consumer.connect();
    await consumer.subscribe({ topic: "orders", fromBeginning: true });
    const first = new Promise<string | undefined>((resolve, reject) => {
      consumer
        .run({ autoCommit: false, eachMessage: async ({ message }) => resolve(message.value?.toString()) })
        .catch(reject);
    });
    return { consumer, first };
  }

  async commit(offset: string) {
    const admin = this.kafka.admin();
    this.open.push(admin);
    await admin.connect();
    await admin.setOffsets({ groupId: "shipping", topic: "orders", partitions: [{ partition: 0, offset }] });
  }

  /** The group's offset, "-1" where there is none. */
  async committed() {
    const admin = this.kafka.admin();
    this.open.push(admin);
    await admin.connect();
    const [orders] = await admin.fetchOffsets({ groupId: "shipping", topics: ["orders"] });
    return orders?.partitions.find(({ partition }) => partition === 0)?.offset;
  }

  async close() {
    await Promise.all(this.open.map((client) => client.disconnect()));
  }
}
