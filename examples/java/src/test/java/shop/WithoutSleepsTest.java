package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The tests share a broker: each begins with two orders, and a group that has committed nothing. */
@Timeout(60)
class WithoutSleepsTest {
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    @RegisterExtension
    static final KafkaStub kafka = new KafkaStub("orders:1").controlled();

    @BeforeAll
    static void fill() {
        var servers = Map.<String, Object>of("bootstrap.servers", kafka.bootstrapServers());
        try (var producer = new KafkaProducer<>(servers, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>("orders", "7", "two teapots"));
            producer.send(new ProducerRecord<>("orders", "8", "a cup"));
        }
        kafka.control().awaitTopic("orders", 2);
        kafka.control().snapshot("seed");
    }

    @BeforeEach
    void begin() {
        kafka.control().restore("seed");
        assertNull(committed());
    }

    @Test
    void ordersAreShipped() throws Exception {
        try (var consumer = consumer("worker")) {
            var worker = CompletableFuture.runAsync(() -> {
                consumer.subscribe(List.of("orders"));
                try {
                    while (true) {
                        consumer.poll(Duration.ofMinutes(1));
                        consumer.commitSync();
                    }
                } catch (WakeupException end) {
                    // the test has seen enough
                }
            });
            kafka.control().awaitGroup("shipping", "Stable", 1);
            kafka.control().awaitLag("shipping", "orders", 0);
            kafka.control().awaitQuiet(Duration.ofMillis(50));
            consumer.wakeup();
            worker.get(10, TimeUnit.SECONDS);
        }
        assertEquals(2, committed());
    }

    @Test
    void theSlowOneOverwritesWhatTheFastOneCommitted() throws Exception {
        try (var door = kafka.control().addFault(Map.of("api", "OffsetCommit", "client_id", "slow", "hold", "before"))) {
            var slow = CompletableFuture.runAsync(() -> commit("slow", 1));
            door.awaitHeld(1);
            commit("fast", 2);
            assertEquals(2, committed());
            door.release();
            slow.get(10, TimeUnit.SECONDS);
        }
        assertEquals(1, committed());
    }

    @Test
    void anIdleGroupSurvivesTheWeekendAndNotAWeek() {
        kafka.control().freeze();
        commit("shop", 1);
        kafka.control().advance(Duration.ofDays(3));
        assertEquals(1, committed());
        kafka.control().advance(Duration.ofDays(4));
        assertNull(committed());
    }

    @Test
    void whatIsRefusedSaysWhy() {
        var refused = assertThrows(Control.Refused.class, () -> kafka.control().restore("no such"));
        assertEquals(404, refused.status());
    }

    private static KafkaConsumer<String, String> consumer(String id) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", kafka.bootstrapServers(),
                        "client.id", id,
                        "group.id", "shipping",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest"),
                new StringDeserializer(),
                new StringDeserializer());
    }

    private static void commit(String id, long offset) {
        try (var consumer = consumer(id)) {
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(offset)));
        }
    }

    /** The offset of the group, null where there is none. */
    private static Long committed() {
        try (var consumer = consumer("reader")) {
            OffsetAndMetadata found = consumer.committed(Set.of(ORDERS)).get(ORDERS);
            return found == null ? null : found.offset();
        }
    }
}
