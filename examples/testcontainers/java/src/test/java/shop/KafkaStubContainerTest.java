package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kafkastub.testcontainers.KafkaStubContainer;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.utility.DockerImageName;

@Timeout(120)
class KafkaStubContainerTest {
    @Test
    void aBrokerInAContainer() throws Exception {
        skipWithoutImage("kafkastub");
        try (var stub = new KafkaStubContainer(DockerImageName.parse("kafkastub")).withTopics("orders:1")) {
            stub.start();
            var servers = Map.<String, Object>of("bootstrap.servers", stub.getBootstrapServers());
            try (var producer = new KafkaProducer<>(servers, new StringSerializer(), new StringSerializer())) {
                var sent = producer.send(new ProducerRecord<>("orders", "7", "two teapots")).get();
                assertEquals(0, sent.offset());
            }
            stub.control().clock().advance(Duration.ofDays(7));
        }
    }

    /** Says why there is nothing to run; where KAFKASTUB_ENGINE is set, there has to be. */
    private static void skipWithoutImage(String image) throws InterruptedException {
        if (System.getenv("KAFKASTUB_ENGINE") != null) {
            return;
        }
        try {
            var inspect = new ProcessBuilder("docker", "image", "inspect", image).redirectErrorStream(true).start();
            String said = new String(inspect.getInputStream().readAllBytes());
            assumeTrue(inspect.waitFor() == 0, said);
        } catch (IOException error) {
            assumeTrue(false, error.getMessage());
        }
    }
}
