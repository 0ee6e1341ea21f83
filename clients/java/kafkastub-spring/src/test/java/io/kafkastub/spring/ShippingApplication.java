package io.kafkastub.spring;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;

/** Ships each order, and says so in another topic. It does not know where the broker is. */
@SpringBootApplication
class ShippingApplication {
    private final KafkaTemplate<String, String> kafka;

    ShippingApplication(KafkaTemplate<String, String> kafka) {
        this.kafka = kafka;
    }

    @KafkaListener(topics = "orders", groupId = "shipping")
    void ship(ConsumerRecord<String, String> order) {
        kafka.send("shipped", order.key(), order.value()).join();
    }
}
