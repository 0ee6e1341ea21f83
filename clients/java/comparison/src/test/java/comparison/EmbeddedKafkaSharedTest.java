package comparison;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** 200 tests that share a broker, each with a topic of its own. */
class EmbeddedKafkaSharedTest {
    private static final EmbeddedKafkaKraftBroker kafka = new EmbeddedKafkaKraftBroker(1, 1);

    @BeforeAll
    static void start() {
        kafka.brokerProperty("group.initial.rebalance.delay.ms", "0");
        kafka.afterPropertiesSet();
    }

    @AfterAll
    static void stop() {
        kafka.destroy();
    }

    @RepeatedTest(200)
    void aRecordArrives(RepetitionInfo repetition) {
        String topic = "orders-" + repetition.getCurrentRepetition();
        kafka.addTopics(topic);
        Many.aRecordArrives(kafka.getBrokersAsString(), topic);
    }
}
