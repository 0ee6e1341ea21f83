package comparison;

import org.junit.jupiter.api.RepeatedTest;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** Tests, each with a broker of its own. 20 of them: with 200 it would take ten times as long. */
class EmbeddedKafkaManyTest {
    @RepeatedTest(20)
    void aRecordArrives() {
        var kafka = new EmbeddedKafkaKraftBroker(1, 1, "orders");
        kafka.brokerProperty("group.initial.rebalance.delay.ms", "0");
        kafka.afterPropertiesSet();
        try {
            Many.aRecordArrives(kafka.getBrokersAsString(), "orders");
        } finally {
            kafka.destroy();
        }
    }
}
