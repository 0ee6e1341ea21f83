package io.kafkastub.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.KafkaStub;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.KafkaTemplate;

@SpringBootTest
@AutoConfigureKafkaStub(
        topics = {"orders:2", "shipped"},
        registry = true)
@Timeout(60)
class AutoConfigureKafkaStubTest {
    @Autowired
    KafkaStub kafka;

    @Autowired
    KafkaTemplate<String, String> template;

    @Value("${kafkastub.bootstrap-servers}")
    String servers;

    @Value("${kafkastub.registry-url}")
    String registry;

    @Test
    void theApplicationConnectsByItself() {
        template.send("orders", "7", "two teapots").join();
        kafka.await().topic("shipped").recordWithKey("7");
        kafka.await().group("shipping").lag("orders", 0);
        assertEquals(
                "two teapots", kafka.records().read("shipped").get(0).value().text());
    }

    @Test
    void propertiesNameTheStub() {
        assertEquals(kafka.bootstrapServers(), servers);
        assertTrue(registry.startsWith("http://"), registry);
    }

    @Test
    void anOrderIsShippedThoughItsCommitIsRefused() {
        try (var lost = kafka.faults()
                .add(rule -> rule.api("OffsetCommit")
                        .group("shipping")
                        .error("NOT_COORDINATOR")
                        .times(1))) {
            template.send("orders", "8", "a cup").join();
            lost.awaitHits(1);
            kafka.await().group("shipping").lag("orders", 0);
            kafka.await().topic("shipped").recordWithKey("8");
        }
    }
}
