package shop;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A broker for the tests of a class: {@code @RegisterExtension static KafkaStub kafka = new KafkaStub("orders:3");}
 * With {@code .controlled()} behind it, {@code kafka.control()} holds it.
 */
public final class KafkaStub implements BeforeAllCallback, AfterAllCallback {
    private static final Pattern READY = Pattern.compile("kafkastub ready on (\\S+) .*");
    private static final Pattern CONTROL = Pattern.compile("kafkastub control port on (\\S+)");

    private final List<String> command = new ArrayList<>();
    private Process process;
    private String bootstrapServers;
    private boolean controlled;
    private Control control;

    /** @param topics NAME:PARTITIONS of each topic that is there from the start */
    public KafkaStub(String... topics) {
        command.add(Optional.ofNullable(System.getenv("KAFKASTUB")).orElse("kafkastub"));
        command.addAll(List.of("serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"));
        if (topics.length > 0) {
            command.add("--topic");
            command.addAll(List.of(topics));
        }
    }

    /** Open the control port, too. */
    public KafkaStub controlled() {
        controlled = true;
        command.addAll(List.of("--control-port", "0"));
        return this;
    }

    public String bootstrapServers() {
        return bootstrapServers;
    }

    /** What holds the broker: null without {@link #controlled()}. */
    public Control control() {
        return control;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out = process.inputReader();
        bootstrapServers = next(out, READY);
        if (controlled) {
            control = new Control(next(out, CONTROL));
        }
    }

    private String next(BufferedReader out, Pattern wanted) throws IOException {
        String line = out.readLine();
        Matcher found = wanted.matcher(line == null ? "" : line);
        if (!found.matches()) {
            throw new IOException(String.join(" ", command) + " did not start; it said: " + line);
        }
        return found.group(1);
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        process.destroy();
        process.waitFor(5, TimeUnit.SECONDS);
    }
}
