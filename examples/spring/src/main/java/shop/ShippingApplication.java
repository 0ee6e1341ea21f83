package shop;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.core.KafkaTemplate;

/** Ships each order, and says so in another topic. */
@SpringBootApplication
public class ShippingApplication {
    private final KafkaTemplate<String, String> kafka;

    public ShippingApplication(KafkaTemplate<String, String> kafka) {
        this.kafka = kafka;
    }

    public static void main(String... arguments) {
        SpringApplication.run(ShippingApplication.class, arguments);
    }

    @KafkaListener(topics = "orders", groupId = "shipping")
    void ship(ConsumerRecord<String, String> order) {
        kafka.send("shipped", order.key(), order.value()).join();
    }
}
