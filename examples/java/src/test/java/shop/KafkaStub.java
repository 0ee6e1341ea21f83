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

/** A broker for the tests of a class: {@code @RegisterExtension static KafkaStub kafka = new KafkaStub("orders:3");} */
public final class KafkaStub implements BeforeAllCallback, AfterAllCallback {
    private static final Pattern READY = Pattern.compile("kafkastub ready on (\\S+) .*");

    private final List<String> command = new ArrayList<>();
    private Process process;
    private String bootstrapServers;

    /** @param topics NAME:PARTITIONS of each topic that is there from the start */
    public KafkaStub(String... topics) {
        command.add(Optional.ofNullable(System.getenv("KAFKASTUB")).orElse("kafkastub"));
        command.addAll(List.of("serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"));
        if (topics.length > 0) {
            command.add("--topic");
            command.addAll(List.of(topics));
        }
    }

    public String bootstrapServers() {
        return bootstrapServers;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out = process.inputReader();
        String line = out.readLine();
        Matcher ready = READY.matcher(line == null ? "" : line);
        if (!ready.matches()) {
            throw new IOException(String.join(" ", command) + " did not start; it said: " + line);
        }
        bootstrapServers = ready.group(1);
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        process.destroy();
        process.waitFor(5, TimeUnit.SECONDS);
    }
}
