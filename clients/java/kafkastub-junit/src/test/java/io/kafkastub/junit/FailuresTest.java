package io.kafkastub.junit;

import static io.kafkastub.junit.Runs.run;
import static io.kafkastub.junit.Runs.said;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kafkastub.KafkaStub;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.testkit.engine.EngineExecutionResults;

@Timeout(60)
class FailuresTest {
    @Test
    void aFailureSaysWhatTheStubWasAsked() {
        String text = said(Map.of(), Failing.class);
        assertTrue(text.contains("last requests of KafkaStub[127.0.0.1:"), text);
        assertTrue(text.contains("in Failing.fails(KafkaStub):"), text);
        assertTrue(text.contains("Metadata v") && text.contains("admin-of-the-test"), text);
    }

    @Test
    void theParameterSaysHowMuch() {
        assertEquals("", said(Map.of("kafkastub.journal.lines", "0"), Failing.class));
        assertEquals(
                2,
                said(Map.of("kafkastub.journal.lines", "1"), Failing.class)
                        .lines()
                        .count());
    }

    @KafkaStubTest
    static class Failing {
        @Test
        void fails(KafkaStub kafka) throws Exception {
            ask(kafka, "admin-of-the-test");
            throw new AssertionError("on purpose");
        }
    }

    private static void ask(KafkaStub kafka, String client) throws Exception {
        var settings = Map.<String, Object>of("bootstrap.servers", kafka.bootstrapServers(), "client.id", client);
        try (Admin admin = Admin.create(settings)) {
            admin.listTopics().names().get();
        }
    }

    @Test
    void ofAStubThatIsSharedOnlyTheRequestsOfTheTestAreSaid() {
        String text = said(Map.of(), SharedFailing.class);
        assertTrue(text.contains("client-of-the-second") && !text.contains("client-of-the-first"), text);
    }

    @KafkaStubTest(scope = Scope.CLASS)
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static class SharedFailing {
        @Test
        @Order(1)
        void passes(KafkaStub kafka) throws Exception {
            ask(kafka, "client-of-the-first");
        }

        @Test
        @Order(2)
        void fails(KafkaStub kafka) throws Exception {
            ask(kafka, "client-of-the-second");
            throw new AssertionError("on purpose");
        }
    }

    @Test
    void nothingIsSaidOfTestsThatPassOrAreSkipped() {
        assertEquals("", said(Map.of(), Fine.class));
    }

    @KafkaStubTest
    static class Fine {
        @Test
        void passes(KafkaStub kafka) {
            kafka.clock().freeze();
        }

        @Test
        void isSkipped(KafkaStub kafka) {
            assumeTrue(kafka == null);
        }

        @Test
        void failsWithoutAStub() {
            throw new AssertionError("on purpose");
        }
    }

    @Test
    void aStubOfATestIsNotForBeforeAll() {
        String message = failure(run(BeforeAllOfTest.class));
        assertTrue(message.contains("each test has a stub of its own, so begin cannot have one"), message);
        assertTrue(message.contains("scope = Scope.CLASS"), message);
    }

    private static String failure(EngineExecutionResults results) {
        return results.allEvents().executions().failed().stream()
                .findFirst()
                .orElseThrow()
                .getTerminationInfo()
                .getExecutionResult()
                .getThrowable()
                .orElseThrow()
                .getMessage();
    }

    @Test
    void aFieldOfATestIsNotForBeforeAll() {
        String message = failure(run(FieldInBeforeAll.class));
        assertTrue(message.startsWith("each test has a stub of its own, and no test runs yet"), message);
        assertEquals(
                "no test runs: is the field annotated with @RegisterExtension?",
                assertThrows(
                                IllegalStateException.class,
                                KafkaStubExtension.builder().build()::stub)
                        .getMessage());
    }

    static class FieldInBeforeAll {
        @RegisterExtension
        static final KafkaStubExtension kafka =
                KafkaStubExtension.builder().scope(Scope.TEST).build();

        @BeforeAll
        static void begin() {
            kafka.stub();
        }

        @Test
        void never() {}
    }

    @KafkaStubTest
    static class BeforeAllOfTest {
        @BeforeAll
        static void begin(KafkaStub kafka) {}

        @Test
        void never() {}
    }

    @Test
    void aConfigurationWithoutAValueIsRefused() {
        String message = failure(run(WrongConfig.class));
        assertTrue(message.contains("@KafkaStubTest: config 'num.partitions' is not NAME=VALUE"), message);
    }

    @KafkaStubTest(config = "num.partitions")
    static class WrongConfig {
        @Test
        void never(KafkaStub kafka) {}
    }

    @Test
    void aTestFailsWhereItBreaksAGuarantee() {
        var results = run(Breaking.class);
        results.testEvents().assertStatistics(counts -> counts.succeeded(1).failed(1));
        assertTrue(failure(results).startsWith("commit_went_back in orders-0 by group shipping"), failure(results));
    }

    static class Breaking {
        private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

        @Test
        @KafkaStubTest(topics = "orders", checkGuarantees = true)
        void goesBack(KafkaStub kafka) {
            play(kafka, 1, 0);
        }

        @Test
        @KafkaStubTest(topics = "orders", checkGuarantees = true)
        void goesOn(KafkaStub kafka) {
            play(kafka, 0, 1);
        }

        private static void play(KafkaStub kafka, long... commits) {
            kafka.records().write("orders", "two teapots");
            var settings = Map.<String, Object>of(
                    "bootstrap.servers", kafka.bootstrapServers(),
                    "group.id", "shipping",
                    "enable.auto.commit", "false",
                    "auto.offset.reset", "earliest",
                    "fetch.max.wait.ms", "20");
            try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of("orders"));
                while (consumer.poll(Duration.ofSeconds(10)).isEmpty()) {
                    // not yet
                }
                for (long offset : commits) {
                    consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(offset)));
                }
            }
        }
    }
}
