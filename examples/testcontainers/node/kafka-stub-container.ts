import { AbstractStartedContainer, GenericContainer, type StartedTestContainer, Wait } from "testcontainers";

const KAFKA_PORT = 9092;
const CONTROL_PORT = 9090;

/** The image of kafkastub with its control port. Take this file into your own tests. */
export class KafkaStubContainer extends GenericContainer {
  constructor(image = "kafkastub") {
    super(image);
    this.withExposedPorts(KAFKA_PORT, CONTROL_PORT)
      .withEnvironment({
        KAFKASTUB_CONTROL_PORT: String(CONTROL_PORT),
        KAFKASTUB_CONTROL_HOST: "0.0.0.0",
        KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: "0",
      })
      .withWaitStrategy(Wait.forHttp("/health", CONTROL_PORT).forStatusCode(200));
  }

  /** Topics that are there from the start, written NAME:PARTITIONS. */
  withTopics(...topics: string[]): this {
    return this.withEnvironment({ KAFKA_CREATE_TOPICS: topics.join(",") });
  }

  /** Start it, and tell clients on the host which port the engine has published. */
  override async start(): Promise<StartedKafkaStubContainer> {
    const stub = new StartedKafkaStubContainer(await super.start());
    const response = await fetch(`${stub.controlUrl}/v1/advertised`, {
      method: "PUT",
      body: JSON.stringify({ address: `HOST://${stub.bootstrapServers}` }),
    });
    if (!response.ok) {
      await stub.stop();
      throw new Error(`the advertised address was refused: ${await response.text()}`);
    }
    return stub;
  }
}

export class StartedKafkaStubContainer extends AbstractStartedContainer {
  /** HOST:PORT for clients on the host; those in its network come by its alias and port 19092. */
  readonly bootstrapServers: string;
  /** Where the control port is asked. */
  readonly controlUrl: string;

  constructor(started: StartedTestContainer) {
    super(started);
    this.bootstrapServers = `${started.getHost()}:${started.getMappedPort(KAFKA_PORT)}`;
    this.controlUrl = `http://${started.getHost()}:${started.getMappedPort(CONTROL_PORT)}`;
  }
}
