package comparison;

import static comparison.Clients.consumer;
import static comparison.Clients.producer;
import static comparison.Clients.values;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.KafkaStub;
import io.kafkastub.junit.KafkaStubTest;
import io.kafkastub.model.NewRecord;
import io.kafkastub.model.PartitionRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@KafkaStubTest(topics = "orders:2")
@Timeout(60)
class KafkaStubFiveTest {
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @Test
    void aRecordArrives(KafkaStub kafka) {
        try (var producer = producer(kafka.bootstrapServers(), Map.of());
                var consumer = consumer(kafka.bootstrapServers(), "shipping", "one")) {
            producer.send(new ProducerRecord<>("orders", "7", "two teapots"));
            consumer.subscribe(List.of("orders"));
            assertEquals(List.of("two teapots"), values(consumer, 1));
        }
    }

    @Test
    void anOffsetExpires(KafkaStub kafka) {
        kafka.clock().freeze();
        try (var consumer = consumer(kafka.bootstrapServers(), "shipping", "one")) {
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(5)));
        }
        kafka.clock().advance(Duration.ofDays(7).minusMillis(1));
        assertEquals(5, kafka.groups().committed("shipping", "orders", 0).getAsLong());
        kafka.clock().advance(Duration.ofMillis(1));
        assertTrue(kafka.groups().committed("shipping", "orders", 0).isEmpty());
    }

    @Test
    void aCommitIsRefusedOnce(KafkaStub kafka) {
        try (var fault = kafka.faults()
                        .add(rule -> rule.api("OffsetCommit")
                                .error("NOT_COORDINATOR")
                                .times(1));
                var consumer = consumer(kafka.bootstrapServers(), "shipping", "one")) {
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(5)));
            assertEquals(1, fault.hits());
            assertEquals(5, kafka.groups().committed("shipping", "orders", 0).getAsLong());
        }
    }

    @Test
    void twoConsumersSharePartitions(KafkaStub kafka) {
        try (var one = consumer(kafka.bootstrapServers(), "shipping", "one");
                var two = consumer(kafka.bootstrapServers(), "shipping", "two")) {
            one.subscribe(List.of("orders"));
            two.subscribe(List.of("orders"));
            var shared = CompletableFuture.runAsync(() -> kafka.await()
                    .group("shipping")
                    .assigned(Map.of(
                            "one", List.of(new PartitionRef("orders", 0)),
                            "two", List.of(new PartitionRef("orders", 1)))));
            while (!shared.isDone()) {
                one.poll(Duration.ofMillis(20));
                two.poll(Duration.ofMillis(20));
            }
            shared.join();
        }
    }

    @Test
    void aTransactionIsCutOff(KafkaStub kafka) {
        try (var producer = producer(kafka.bootstrapServers(), Map.of("transactional.id", "shop"));
                var consumer = consumer(kafka.bootstrapServers(), "shipping", "one")) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", 0, "7", "two teapots"));
            producer.flush();
            kafka.clock().advanceWithTimers(Duration.ofMinutes(1));
            kafka.await().transaction("shop").aborted();
            consumer.assign(List.of(ORDERS));
            kafka.records().write("orders", new NewRecord().partition(0).value("a cup"));
            assertEquals(List.of("a cup"), values(consumer, 1));
        }
    }
}
