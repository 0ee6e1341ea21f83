package comparison;

import static comparison.Clients.consumer;
import static comparison.Clients.producer;
import static comparison.Clients.values;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.context.EmbeddedKafka;

/**
 * Four of the five: EmbeddedKafka has no way to refuse a commit. Topics and groups are shared, so names differ. In
 * other threads than that of the class there is no broker to inject, so that the tests run one after the other.
 */
@EmbeddedKafka(
        partitions = 2,
        topics = {"arrives", "expires", "shared", "cut-off"},
        brokerProperties = {
            "offsets.retention.minutes=1",
            "offsets.retention.check.interval.ms=1000",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms=500",
            "group.initial.rebalance.delay.ms=0"
        })
@Execution(ExecutionMode.SAME_THREAD)
@Timeout(180)
class EmbeddedKafkaFiveTest {
    @Test
    void aRecordArrives(EmbeddedKafkaBroker kafka) {
        try (var producer = producer(kafka.getBrokersAsString(), Map.of());
                var consumer = consumer(kafka.getBrokersAsString(), "arrives", "one")) {
            producer.send(new ProducerRecord<>("arrives", "7", "two teapots"));
            consumer.subscribe(List.of("arrives"));
            assertEquals(List.of("two teapots"), values(consumer, 1));
        }
    }

    @Test
    void anOffsetExpires(EmbeddedKafkaBroker kafka) throws Exception {
        var partition = new TopicPartition("expires", 0);
        try (var consumer = consumer(kafka.getBrokersAsString(), "expires", "one")) {
            consumer.commitSync(Map.of(partition, new OffsetAndMetadata(5)));
            assertEquals(5, consumer.committed(Set.of(partition)).get(partition).offset());
            long end = System.nanoTime() + Duration.ofSeconds(90).toNanos();
            while (consumer.committed(Set.of(partition)).get(partition) != null && System.nanoTime() < end) {
                Thread.sleep(500);
            }
            assertNull(consumer.committed(Set.of(partition)).get(partition));
        }
    }

    @Test
    void twoConsumersSharePartitions(EmbeddedKafkaBroker kafka) {
        try (var one = consumer(kafka.getBrokersAsString(), "shared", "one");
                var two = consumer(kafka.getBrokersAsString(), "shared", "two")) {
            one.subscribe(List.of("shared"));
            two.subscribe(List.of("shared"));
            while (one.assignment().size() != 1 || two.assignment().size() != 1) {
                one.poll(Duration.ofMillis(20));
                two.poll(Duration.ofMillis(20));
            }
            var both = new HashSet<>(one.assignment());
            both.addAll(two.assignment());
            assertEquals(Set.of(new TopicPartition("shared", 0), new TopicPartition("shared", 1)), both);
        }
    }

    @Test
    void aTransactionIsCutOff(EmbeddedKafkaBroker kafka) throws Exception {
        var settings = Map.of("transactional.id", "shop", "transaction.timeout.ms", "1000");
        try (var producer = producer(kafka.getBrokersAsString(), settings);
                var other = producer(kafka.getBrokersAsString(), Map.of());
                var consumer = consumer(kafka.getBrokersAsString(), "cut-off", "one");
                var admin = Admin.create(Map.of("bootstrap.servers", kafka.getBrokersAsString()))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("cut-off", 0, "7", "two teapots"));
            producer.flush();
            while (state(admin) != TransactionState.COMPLETE_ABORT) {
                Thread.sleep(100);
            }
            other.send(new ProducerRecord<>("cut-off", 0, "8", "a cup"));
            consumer.assign(List.of(new TopicPartition("cut-off", 0)));
            assertEquals(List.of("a cup"), values(consumer, 1));
        }
    }

    private static TransactionState state(Admin admin) throws Exception {
        return admin.describeTransactions(Set.of("shop"))
                .description("shop")
                .get()
                .state();
    }
}
