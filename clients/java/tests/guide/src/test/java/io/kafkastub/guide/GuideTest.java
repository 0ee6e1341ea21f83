package io.kafkastub.guide;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;

/** The examples of docs/java.md are compiled, and run unless they need an application or a container engine. */
class GuideTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("^class (\\w+)", Pattern.MULTILINE);

    /** What the examples leave out, so that they are short. */
    private static final String IMPORTS = """
        import static org.junit.jupiter.api.Assertions.*;
        import io.kafkastub.*;
        import io.kafkastub.control.*;
        import io.kafkastub.junit.*;
        import io.kafkastub.model.*;
        import io.kafkastub.spring.*;
        import io.kafkastub.testcontainers.*;
        import java.time.Duration;
        import java.util.*;
        import org.junit.jupiter.api.*;
        import org.junit.jupiter.api.extension.RegisterExtension;
        import org.springframework.beans.factory.annotation.Autowired;
        import org.springframework.boot.test.context.SpringBootTest;
        import org.springframework.kafka.core.KafkaTemplate;
        import org.testcontainers.utility.DockerImageName;
        """;

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> examples() throws IOException {
        Matcher blocks = BLOCK.matcher(Files.readString(Path.of(System.getProperty("kafkastub.guide"))));
        List<String> found = blocks.results().map(block -> block.group(1)).toList();
        assertTrue(found.size() >= 7, "there are " + found.size());
        return found.stream()
                .map(block -> dynamicTest(block.lines().limit(1).toList().get(0), () -> tried(block)));
    }

    private void tried(String block) throws Exception {
        Matcher named = CLASS.matcher(block);
        boolean whole = named.find();
        String name = whole ? named.group(1) : "Example";
        String source = block.startsWith("import ") ? block : IMPORTS + (whole ? block : around(block));
        Path home = Files.createTempDirectory(folder, "example");
        Path file = Files.writeString(home.resolve(name + ".java"), source);
        var said = new StringWriter();
        var compiler = ToolProvider.getSystemJavaCompiler();
        var files = compiler.getStandardFileManager(null, null, null).getJavaFileObjects(file);
        var options = List.of("-d", home.toString(), "-cp", System.getProperty("java.class.path"));
        assertTrue(compiler.getTask(said, null, null, options, null, files).call(), said.toString());
        if (block.contains("@SpringBootTest") || block.contains("KafkaStubContainer")) {
            return;
        }
        run(home, name);
    }

    /** Statements as a test whose class is a file of its own. */
    private static String around(String statements) {
        return "@KafkaStubTest(topics = \"orders\") class Example { @Test void example(KafkaStub kafka) throws"
                + " Exception {\n"
                + statements + "}}\n";
    }

    private static void run(Path home, String name) throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (var loader = new URLClassLoader(new URL[] {home.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(loader);
            var results = EngineTestKit.engine("junit-jupiter")
                    .selectors(DiscoverySelectors.selectClass(loader.loadClass(name)))
                    .execute();
            var failed = results.allEvents().failed().list();
            assertEquals(List.of(), failed);
            assertTrue(results.testEvents().succeeded().count() > 0);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
