package shop;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.kafkastub.KafkaStub;
import io.kafkastub.control.WaitTimeoutError;
import io.kafkastub.spring.AutoConfigureKafkaStub;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.KafkaTemplate;

@SpringBootTest
@AutoConfigureKafkaStub(topics = {"orders:1", "shipped:1"})
@Timeout(60)
class ShippingTest {
    @Autowired
    private KafkaStub kafka;

    @Autowired
    private KafkaTemplate<String, String> template;

    @Test
    void anOrderIsShipped() {
        template.send("orders", "7", "two teapots").join();
        kafka.await().topic("shipped").recordWithKey("7");
        kafka.await().group("shipping").lag("orders", 0);
    }

    @Test
    void anOrderIsShippedWhileTheCoordinatorIsNotToBeFound() {
        try (var lost = kafka.faults().add(rule ->
                rule.api("OffsetCommit").group("shipping").error("NOT_COORDINATOR").times(2))) {
            template.send("orders", "8", "a cup").join();
            lost.awaitHits(2);
            kafka.await().group("shipping").lag("orders", 0);
            kafka.await().topic("shipped").recordWithKey("8");
        }
    }

    @Test
    void anOrderIsNotDoneBeforeItsShippingIsWritten() {
        try (var door = kafka.faults().add(rule -> rule.api("Produce").topic("shipped").hold("before"))) {
            template.send("orders", "9", "a jug").join();
            door.awaitHeld(1);
            var now = kafka.await(Duration.ZERO);
            assertThrows(WaitTimeoutError.class, () -> now.group("shipping").lag("orders", 0));
            door.release();
            kafka.await().group("shipping").lag("orders", 0);
        }
    }
}
