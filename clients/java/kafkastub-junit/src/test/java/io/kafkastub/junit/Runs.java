package io.kafkastub.junit;

import io.kafkastub.KafkaStub;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

/** Runs test classes as JUnit does; they leave what they have seen here. */
final class Runs {
    static final List<KafkaStub> SEEN = new CopyOnWriteArrayList<>();

    private Runs() {}

    static EngineExecutionResults run(Class<?>... tests) {
        return run(Map.of(), tests);
    }

    static EngineExecutionResults run(Map<String, String> parameters, Class<?>... tests) {
        SEEN.clear();
        var selectors = Stream.of(tests).map(DiscoverySelectors::selectClass).toArray(DiscoverySelector[]::new);
        return EngineTestKit.engine("junit-jupiter")
                .configurationParameters(parameters)
                .selectors(selectors)
                .execute();
    }

    /** What is said on standard error while a test class runs. */
    static String said(Map<String, String> parameters, Class<?> test) {
        PrintStream before = System.err;
        var said = new ByteArrayOutputStream();
        System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            run(parameters, test);
        } finally {
            System.setErr(before);
        }
        return said.toString(StandardCharsets.UTF_8);
    }

    static boolean isClosed(KafkaStub stub) {
        try {
            stub.clock().now();
            return false;
        } catch (RuntimeException gone) {
            return true;
        }
    }
}
