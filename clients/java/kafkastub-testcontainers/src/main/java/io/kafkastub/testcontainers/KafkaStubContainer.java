package io.kafkastub.testcontainers;

import com.github.dockerjava.api.command.InspectContainerResponse;
import io.kafkastub.control.Control;
import java.util.Locale;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * The image of kafkastub with its control port.
 *
 * <pre>{@code
 * try (var kafka = new KafkaStubContainer(DockerImageName.parse("kafkastub")).withTopics("orders:3")) {
 *     kafka.start();
 *     kafka.control().clock().advance(Duration.ofDays(7));
 * }
 * }</pre>
 */
public class KafkaStubContainer extends GenericContainer<KafkaStubContainer> {
    private static final int KAFKA_PORT = 9092;
    private static final int CONTROL_PORT = 9090;

    private Control control;

    /** A container of that image. */
    public KafkaStubContainer(DockerImageName image) {
        super(image);
        withExposedPorts(KAFKA_PORT, CONTROL_PORT);
        withEnv("KAFKASTUB_CONTROL_PORT", String.valueOf(CONTROL_PORT));
        withEnv("KAFKASTUB_CONTROL_HOST", "0.0.0.0");
        // Kafka waits three seconds for more members before the first rebalance of a group.
        withConfig("group.initial.rebalance.delay.ms", "0");
        waitingFor(Wait.forHttp("/health").forPort(CONTROL_PORT).forStatusCode(200));
    }

    /** Topics that exist from the start: NAME:PARTITIONS, or NAME for one partition. */
    public KafkaStubContainer withTopics(String... topics) {
        return withEnv("KAFKA_CREATE_TOPICS", String.join(",", topics));
    }

    /** A value of Kafka's broker configuration, such as {@code offsets.retention.minutes}. */
    public KafkaStubContainer withConfig(String name, String value) {
        return withEnv("KAFKA_" + name.toUpperCase(Locale.ROOT).replace('.', '_'), value);
    }

    /** Values of Kafka's broker configuration. */
    public KafkaStubContainer withConfig(Map<String, String> values) {
        values.forEach(this::withConfig);
        return this;
    }

    /** HOST:PORT for clients on the host; those in its network connect to its alias and port 19092. */
    public String getBootstrapServers() {
        return getHost() + ":" + getMappedPort(KAFKA_PORT);
    }

    /** The URL of the control port. */
    public String getControlUrl() {
        return "http://" + getHost() + ":" + getMappedPort(CONTROL_PORT);
    }

    /**
     * The control port: clock, faults, journal, waits and all else.
     *
     * @throws IllegalStateException if the container has not been started
     */
    public Control control() {
        if (control == null) {
            throw new IllegalStateException("the container has not been started: call start() first");
        }
        return control;
    }

    /** Clients on the host are told which port the engine has published. */
    @Override
    protected void containerIsStarted(InspectContainerResponse container, boolean reused) {
        control = Control.at(getControlUrl());
        control.nodes().advertise("HOST://" + getBootstrapServers());
    }
}
