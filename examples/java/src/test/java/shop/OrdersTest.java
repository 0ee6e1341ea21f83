package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.kafkastub.KafkaStub;
import io.kafkastub.junit.KafkaStubTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@KafkaStubTest(topics = "orders:1")
@Timeout(60)
class OrdersTest {
    @Test
    void anOrderIsShippedOnce(KafkaStub kafka) throws Exception {
        try (var producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", kafka.bootstrapServers()),
                new StringSerializer(),
                new StringSerializer())) {
            producer.send(new ProducerRecord<>("orders", "7", "two teapots")).get();
        }
        var orders = new TopicPartition("orders", 0);
        try (var consumer = shipping(kafka)) {
            consumer.subscribe(List.of("orders"));
            var records = consumer.poll(Duration.ofSeconds(30));
            while (records.isEmpty()) {
                records = consumer.poll(Duration.ofSeconds(30));
            }
            assertEquals("two teapots", records.iterator().next().value());
            consumer.commitSync();
        }
        try (var consumer = shipping(kafka)) {
            assertEquals(1, consumer.committed(Set.of(orders)).get(orders).offset());
        }
    }

    private static KafkaConsumer<String, String> shipping(KafkaStub kafka) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", kafka.bootstrapServers(),
                        "group.id", "shipping",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer());
    }
}
