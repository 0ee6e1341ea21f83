package io.kafkastub.junit;

import static io.kafkastub.junit.Runs.SEEN;
import static io.kafkastub.junit.Runs.isClosed;
import static io.kafkastub.junit.Runs.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.KafkaStub;
import java.util.HashSet;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class ScopesTest {
    @Test
    void eachTestHasItsOwn() {
        run(EachTest.class).testEvents().assertStatistics(counts -> counts.succeeded(2));
        assertNotEquals(SEEN.get(0), SEEN.get(1));
        assertTrue(isClosed(SEEN.get(0)) && isClosed(SEEN.get(1)));
    }

    @KafkaStubTest(topics = "orders:3")
    static class EachTest {
        private KafkaStub before;

        @BeforeEach
        void fill(KafkaStub kafka) {
            before = kafka;
            kafka.records().write("orders", "two teapots");
        }

        @RepeatedTest(2)
        void seesWhatWasWrittenBefore(KafkaStub kafka, @BootstrapServers String servers) {
            assertSame(before, kafka);
            assertEquals(kafka.bootstrapServers(), servers);
            assertEquals(1, kafka.records().read("orders").size());
            SEEN.add(kafka);
        }
    }

    @Test
    void theMethodsAnnotationWins() {
        run(Methods.class).testEvents().assertStatistics(counts -> counts.succeeded(1));
    }

    @KafkaStubTest(topics = "orders:3")
    static class Methods {
        @Test
        @KafkaStubTest(
                topics = "payments:2",
                config = "offsets.retention.minutes = 60",
                nodes = 2,
                asVersion = "3.9",
                profile = "kafka",
                registry = true,
                customizer = WithAudit.class)
        void hasItsOwnSettings(KafkaStub kafka) {
            assertEquals(1, kafka.topics().describe("audit").partitions());
            assertEquals(2, kafka.topics().describe("payments").partitions());
            assertEquals("60", kafka.configs().all().set().get("offsets.retention.minutes"));
            assertEquals(2, kafka.nodes().list().nodes().size());
            assertTrue(kafka.registryUrl().startsWith("http://"));
        }
    }

    static class WithAudit implements UnaryOperator<KafkaStub.Builder> {
        @Override
        public KafkaStub.Builder apply(KafkaStub.Builder builder) {
            return builder.topic("audit", 1);
        }
    }

    @Test
    void aClassSharesOneWithItsNestedClasses() {
        run(OneClass.class).testEvents().assertStatistics(counts -> counts.succeeded(3));
        assertEquals(1, new HashSet<>(SEEN).size());
        assertTrue(isClosed(SEEN.get(0)));
    }

    @KafkaStubTest(scope = Scope.CLASS)
    static class OneClass {
        @BeforeAll
        static void begin(KafkaStub kafka) {
            SEEN.add(kafka);
        }

        @RepeatedTest(2)
        void sees(KafkaStub kafka) {
            SEEN.add(kafka);
        }

        @Nested
        class Inner {
            @Test
            void sees(KafkaStub kafka) {
                SEEN.add(kafka);
            }
        }

        @AfterAll
        static void end(KafkaStub kafka) {
            SEEN.add(kafka);
        }
    }

    @Test
    void aRunSharesOneAmongTheSameSettings() {
        run(RunOne.class, RunTwo.class, RunOther.class).testEvents().assertStatistics(counts -> counts.succeeded(3));
        assertEquals(2, new HashSet<>(SEEN).size());
        assertTrue(SEEN.stream().allMatch(Runs::isClosed));
    }

    @KafkaStubTest(topics = "orders", scope = Scope.RUN)
    static class RunOne {
        @Test
        void sees(KafkaStub kafka) {
            SEEN.add(kafka);
        }
    }

    @KafkaStubTest(topics = "orders", scope = Scope.RUN)
    static class RunTwo {
        @Test
        void sees(KafkaStub kafka) {
            SEEN.add(kafka);
        }
    }

    @KafkaStubTest(topics = "payments", scope = Scope.RUN)
    static class RunOther {
        @Test
        void sees(KafkaStub kafka) {
            SEEN.add(kafka);
        }
    }

    @Test
    void fieldsAreSharedWhereTheyAreStatic() {
        run(StaticField.class).testEvents().assertStatistics(counts -> counts.succeeded(2));
        assertEquals(1, new HashSet<>(SEEN).size());
        run(InstanceField.class).testEvents().assertStatistics(counts -> counts.succeeded(2));
        assertEquals(2, new HashSet<>(SEEN).size());
        run(OneInstance.class).testEvents().assertStatistics(counts -> counts.succeeded(2));
        assertEquals(2, new HashSet<>(SEEN).size());
        run(TwoFields.class).testEvents().assertStatistics(counts -> counts.succeeded(1));
        assertEquals(2, new HashSet<>(SEEN).size());
    }

    static class StaticField {
        @RegisterExtension
        static final KafkaStubExtension kafka =
                KafkaStubExtension.builder().topics("orders").build();

        @BeforeAll
        static void fill() {
            kafka.stub().records().write("orders", "two teapots");
        }

        @RepeatedTest(2)
        void sees() {
            assertEquals(1, kafka.stub().records().read("orders").size());
            SEEN.add(kafka.stub());
        }
    }

    static class InstanceField {
        @RegisterExtension
        final KafkaStubExtension kafka =
                KafkaStubExtension.builder().config("num.partitions", 2).build();

        @RepeatedTest(2)
        void sees() {
            assertEquals(kafka.stub().bootstrapServers(), kafka.bootstrapServers());
            SEEN.add(kafka.stub());
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    static class OneInstance {
        @RegisterExtension
        final KafkaStubExtension kafka = KafkaStubExtension.builder().build();

        @RepeatedTest(2)
        void sees() {
            SEEN.add(kafka.stub());
        }
    }

    static class TwoFields {
        @RegisterExtension
        final KafkaStubExtension one = KafkaStubExtension.builder().build();

        @RegisterExtension
        static final KafkaStubExtension two = KafkaStubExtension.builder()
                .stub(stub -> stub.nodes(1))
                .scope(Scope.TEST)
                .build();

        @Test
        void sees() {
            SEEN.add(one.stub());
            SEEN.add(two.stub());
        }
    }

    @Test
    void parallelTestsHaveTheirOwn() {
        var parallel = Map.of(
                "junit.jupiter.execution.parallel.enabled", "true",
                "junit.jupiter.execution.parallel.mode.default", "concurrent",
                "junit.jupiter.execution.parallel.config.strategy", "fixed",
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4");
        run(parallel, EachTest.class, ParallelField.class)
                .testEvents()
                .assertStatistics(counts -> counts.succeeded(10));
        assertEquals(10, new HashSet<>(SEEN).size());
    }

    static class ParallelField {
        @RegisterExtension
        static final KafkaStubExtension kafka =
                KafkaStubExtension.builder().topics("orders").scope(Scope.TEST).build();

        @RepeatedTest(8)
        void sees() {
            kafka.stub().records().write("orders", "two teapots");
            assertEquals(1, kafka.stub().records().read("orders").size());
            SEEN.add(kafka.stub());
        }
    }
}
