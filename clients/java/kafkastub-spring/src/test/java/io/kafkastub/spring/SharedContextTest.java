package io.kafkastub.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.KafkaStub;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/** Without Spring Boot: Spring's own tests are enough. */
class SharedContextTest {
    static final List<KafkaStub> SEEN = new ArrayList<>();

    @AfterEach
    void forget() {
        SEEN.clear();
    }

    @Test
    void classesWithTheSameSettingsShareAStub() {
        run(One.class, Same.class);
        assertEquals(SEEN.get(0), SEEN.get(1));
    }

    @Test
    void classesWithOtherSettingsHaveTheirOwn() {
        run(One.class, Other.class);
        assertNotEquals(SEEN.get(0), SEEN.get(1));
    }

    @Test
    void theStubEndsWithItsContext() {
        run(Dirty.class);
        assertThrows(RuntimeException.class, () -> SEEN.get(0).clock().now());
    }

    @Test
    void aFailureSaysWhatTheStubWasAsked() {
        PrintStream before = System.err;
        var said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            EngineTestKit.engine("junit-jupiter")
                    .selectors(DiscoverySelectors.selectClass(Failing.class))
                    .execute();
        } finally {
            System.setErr(before);
        }
        String text = said.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("in Failing.fails:") && text.contains("the broker's clock: advance"), text);
    }

    private static void run(Class<?>... tests) {
        var selectors = Stream.of(tests).map(DiscoverySelectors::selectClass).toArray(DiscoverySelector[]::new);
        EngineTestKit.engine("junit-jupiter")
                .selectors(selectors)
                .execute()
                .testEvents()
                .assertStatistics(counts -> counts.succeeded(tests.length).failed(0));
    }

    @Configuration
    static class Nothing {}

    @SpringJUnitConfig(Nothing.class)
    @AutoConfigureKafkaStub(topics = "orders")
    static class One {
        @Autowired
        KafkaStub kafka;

        @Test
        void sees() {
            SEEN.add(kafka);
        }
    }

    @SpringJUnitConfig(Nothing.class)
    @AutoConfigureKafkaStub(topics = "orders")
    static class Same {
        @Autowired
        KafkaStub kafka;

        @Test
        void sees() {
            SEEN.add(kafka);
        }
    }

    @SpringJUnitConfig(Nothing.class)
    @AutoConfigureKafkaStub(topics = "orders:2")
    static class Other {
        @Autowired
        KafkaStub kafka;

        @Test
        void sees() {
            SEEN.add(kafka);
        }
    }

    @SpringJUnitConfig(Nothing.class)
    @AutoConfigureKafkaStub(topics = "payments")
    @DirtiesContext
    static class Dirty {
        @Autowired
        KafkaStub kafka;

        @Test
        void sees() {
            SEEN.add(kafka);
            kafka.clock().now();
        }
    }

    @SpringJUnitConfig(Nothing.class)
    @AutoConfigureKafkaStub
    static class Failing {
        @Autowired
        KafkaStub kafka;

        @Test
        void fails() {
            kafka.clock().advance(Duration.ofDays(1));
            throw new AssertionError("on purpose");
        }
    }
}
