package io.kafkastub.testcontainers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.utility.DockerImageName;

@Timeout(120)
class KafkaStubContainerTest {
    private static final DockerImageName IMAGE = DockerImageName.parse("kafkastub");

    @Test
    void settingsAreTheVariablesOfTheImage() {
        try (var kafka = new KafkaStubContainer(IMAGE)
                .withTopics("orders:3", "audit")
                .withConfig("offsets.retention.minutes", "60")) {
            assertEquals("orders:3,audit", kafka.getEnvMap().get("KAFKA_CREATE_TOPICS"));
            assertEquals("60", kafka.getEnvMap().get("KAFKA_OFFSETS_RETENTION_MINUTES"));
            assertEquals("0", kafka.getEnvMap().get("KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS"));
            assertEquals(List.of(9092, 9090), kafka.getExposedPorts());
        }
    }

    @Test
    void aContainerThatWasNotStartedSaysSo() {
        try (var kafka = new KafkaStubContainer(IMAGE)) {
            var refused = assertThrows(IllegalStateException.class, kafka::control);
            assertEquals("the container has not been started: call start() first", refused.getMessage());
        }
    }

    @Test
    void aBrokerInAContainer() throws Exception {
        skipWithoutImage();
        try (var kafka = new KafkaStubContainer(IMAGE).withTopics("orders:1")) {
            kafka.start();
            kafka.control().records().write("orders", "7", "two teapots");
            assertEquals(
                    "7", kafka.control().records().read("orders").get(0).key().text());
            kafka.control().clock().advance(Duration.ofDays(7));
        }
    }

    /** Says why there is nothing to run; where KAFKASTUB_ENGINE is set, there has to be. */
    private static void skipWithoutImage() throws InterruptedException {
        if (System.getenv("KAFKASTUB_ENGINE") != null) {
            return;
        }
        try {
            var inspect = new ProcessBuilder("docker", "image", "inspect", IMAGE.asCanonicalNameString())
                    .redirectErrorStream(true)
                    .start();
            String said = new String(inspect.getInputStream().readAllBytes());
            assumeTrue(inspect.waitFor() == 0, said);
        } catch (IOException error) {
            assumeTrue(false, error.getMessage());
        }
    }
}
