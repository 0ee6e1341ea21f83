package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.junit.KafkaStubExtension;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
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
    static final KafkaStubExtension kafka =
            KafkaStubExtension.builder().topics("orders:1").build();

    @BeforeAll
    static void fill() {
        kafka.stub().records().write("orders", "7", "two teapots");
        kafka.stub().records().write("orders", "8", "a cup");
        kafka.stub().snapshots().take("seed");
    }

    @BeforeEach
    void begin() {
        kafka.stub().snapshots().restore("seed");
        assertTrue(committed().isEmpty());
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
            kafka.stub().await().group("shipping").stable(1).lag("orders", 0);
            kafka.stub().await().quiet(Duration.ofMillis(50));
            consumer.wakeup();
            worker.get(10, TimeUnit.SECONDS);
        }
        assertEquals(2, committed().getAsLong());
    }

    @Test
    void theSlowOneOverwritesWhatTheFastOneCommitted() throws Exception {
        try (var door = kafka.stub().faults().add(rule -> rule.api("OffsetCommit").clientId("slow").hold("before"))) {
            var slow = CompletableFuture.runAsync(() -> commit("slow", 1));
            door.awaitHeld(1);
            commit("fast", 2);
            assertEquals(2, committed().getAsLong());
            door.release();
            slow.get(10, TimeUnit.SECONDS);
        }
        assertEquals(1, committed().getAsLong());
    }

    @Test
    void anIdleGroupSurvivesTheWeekendAndNotAWeek() {
        kafka.stub().clock().freeze();
        commit("shop", 1);
        kafka.stub().clock().advance(Duration.ofDays(3));
        assertEquals(1, committed().getAsLong());
        kafka.stub().clock().advance(Duration.ofDays(4));
        assertTrue(committed().isEmpty());
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

    private static OptionalLong committed() {
        return kafka.stub().groups().committed("shipping", "orders", 0);
    }
}
