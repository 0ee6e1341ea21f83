package io.kafkastub.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.Clients;
import io.kafkastub.KafkaStub;
import io.kafkastub.model.GroupCondition;
import io.kafkastub.model.PartitionRef;
import io.kafkastub.model.ShareGroupCondition;
import io.kafkastub.model.StreamsGroupCondition;
import io.kafkastub.model.TopicCondition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AwaitTest {
    private KafkaStub stub;

    @BeforeEach
    void start() {
        stub = KafkaStub.start("orders:2");
    }

    @AfterEach
    void stop() {
        stub.close();
    }

    @Test
    void aGroupGetsThere() throws Exception {
        try (var consumer = Clients.consumer(stub, "one")) {
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
            var both = List.of(new PartitionRef("orders", 0), new PartitionRef("orders", 1));
            stub.await().group("shipping").stable().stable(1).members(1).assigned(Map.of("one", both));
            stub.records().write("orders", "7", "two teapots");
            stub.await()
                    .group("shipping")
                    .lag("orders", 0)
                    .lag(0)
                    .until(new GroupCondition()
                            .state("stable")
                            .members(1)
                            .topic("orders")
                            .lag(0));
            consumer.wakeup();
            worker.get(30, TimeUnit.SECONDS);
        }
        stub.await().group("shipping").empty();
        stub.groups().delete("shipping");
        stub.await().group("shipping").dead();
    }

    @Test
    void aTopicGetsThere() {
        var later = CompletableFuture.runAsync(() -> {
            stub.topics().create("late", 3);
            stub.records().write("late", "7", "two teapots");
        });
        stub.await()
                .topic("late")
                .exists()
                .partitions(3)
                .records(1)
                .recordWithKey("7")
                .recordContaining("teapot");
        stub.await()
                .topic("late")
                .until(new TopicCondition().records(1).key("7").contains("two"));
        later.join();
    }

    @Test
    void aShareGroupGetsThere() {
        var settings = Map.<String, Object>of("bootstrap.servers", stub.bootstrapServers(), "group.id", "workers");
        try (var consumer = new KafkaShareConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            stub.shareGroups().configure("workers", Map.of("share.auto.offset.reset", "earliest"));
            consumer.subscribe(List.of("orders"));
            stub.records().write("orders", "7", "two teapots");
            while (consumer.poll(Duration.ofSeconds(1)).isEmpty()) {
                // not yet
            }
            stub.await().shareGroup("workers").acquired(1).until(new ShareGroupCondition().acquired(1));
            consumer.commitSync();
        }
        stub.await().shareGroup("workers").lag(0).lag("orders", 0).held(0);
    }

    @Test
    void whenTimeIsOverItSaysWhatWasSeenLast() {
        var over = assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(Duration.ofMillis(20)).group("shipping").stable());
        assertTrue(over.getMessage().startsWith("after 20 ms: "), over.getMessage());
        assertTrue(over.getMessage().contains("shipping"), over.getMessage());
        var none = Duration.ZERO;
        assertThrows(
                WaitTimeoutError.class, () -> stub.await(none).topic("none").exists());
        assertThrows(WaitTimeoutError.class, () -> stub.await(none).request("OffsetDelete"));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).shareGroup("workers").lag(0));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).shareGroup("workers").held(1));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).streamsGroup("app").running());
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).streamsGroup("app").members(1));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).streamsGroup("app").status("MISSING_SOURCE_TOPICS"));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).streamsGroup("app").active(Map.of()));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).streamsGroup("app").until(new StreamsGroupCondition().members(1)));
        assertThrows(
                WaitTimeoutError.class,
                () -> stub.await(none).transaction("shop").committed());
        try (Fault fault = stub.faults().add(rule -> rule.api("OffsetCommit").hold("before"))) {
            assertThrows(WaitTimeoutError.class, () -> fault.awaitHeld(1, none));
            assertThrows(WaitTimeoutError.class, () -> fault.awaitHits(1, none));
        }
    }

    @Test
    void whatCannotBeWaitedForIsRefusedAtOnce() {
        var refused = assertThrows(
                RefusedException.class, () -> stub.await().group("shipping").state("Sleeping"));
        assertEquals(400, refused.status());
    }
}
