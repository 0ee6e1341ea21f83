package shop;

import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

@SpringBootTest
@Timeout(60)
class ShippingTest {
    private static final String DONE = "/v1/groups/shipping/wait?topic=orders&lag=0";
    private static final KafkaStub kafka = KafkaStub.start("orders:1", "shipped:1");

    @Autowired
    private KafkaTemplate<String, String> template;

    @DynamicPropertySource
    static void address(DynamicPropertyRegistry registry) {
        registry.add("spring.kafka.bootstrap-servers", kafka::bootstrapServers);
    }

    @Test
    void anOrderIsShipped() {
        template.send("orders", "7", "two teapots").join();
        kafka.await("/v1/topics/shipped/wait?records=1&key=7");
        kafka.await(DONE);
    }

    @Test
    void anOrderIsShippedWhileTheCoordinatorIsNotToBeFound() {
        kafka.ask("POST", "/v1/faults", """
                {"name": "lost", "api": "OffsetCommit", "group": "shipping", "error": "NOT_COORDINATOR", "times": 2}
                """);
        template.send("orders", "8", "a cup").join();
        kafka.await("/v1/faults/lost/wait?hits=2");
        kafka.await(DONE);
        kafka.await("/v1/topics/shipped/wait?records=1&key=8");
        kafka.ask("DELETE", "/v1/faults/lost", "");
    }

    @Test
    void anOrderIsNotDoneBeforeItsShippingIsWritten() {
        kafka.ask("POST", "/v1/faults", """
                {"name": "door", "api": "Produce", "topic": "shipped", "hold": "before"}
                """);
        template.send("orders", "9", "a jug").join();
        kafka.await("/v1/faults/door/wait?held=1");
        assertThrows(AssertionError.class, () -> kafka.ask("GET", DONE + "&timeout=0", ""));
        kafka.ask("POST", "/v1/faults/door/release", "");
        kafka.await(DONE);
        kafka.ask("DELETE", "/v1/faults/door", "");
    }
}
