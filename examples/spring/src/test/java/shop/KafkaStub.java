package shop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A broker with its control port, as long as the tests run: Spring keeps an application for several classes. */
final class KafkaStub {
    private static final Pattern READY = Pattern.compile("kafkastub ready on (\\S+) .*");
    private static final Pattern CONTROL = Pattern.compile("kafkastub control port on (\\S+)");

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String bootstrapServers;
    private final String controlUrl;

    private KafkaStub(String bootstrapServers, String controlUrl) {
        this.bootstrapServers = bootstrapServers;
        this.controlUrl = controlUrl;
    }

    /** @param topics NAME:PARTITIONS of each topic that is there from the start */
    static KafkaStub start(String... topics) {
        List<String> command = new ArrayList<>();
        command.add(Optional.ofNullable(System.getenv("KAFKASTUB")).orElse("kafkastub"));
        command.addAll(List.of("serve", "--port", "0", "--control-port", "0"));
        command.addAll(List.of("--config", "group.initial.rebalance.delay.ms=0", "--topic"));
        command.addAll(List.of(topics));
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
            BufferedReader out = process.inputReader();
            return new KafkaStub(next(out, READY), next(out, CONTROL));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static String next(BufferedReader out, Pattern wanted) throws IOException {
        String line = out.readLine();
        Matcher found = wanted.matcher(line == null ? "" : line);
        if (!found.matches()) {
            throw new IOException("kafkastub did not start; it said: " + line);
        }
        return found.group(1);
    }

    String bootstrapServers() {
        return bootstrapServers;
    }

    /** Wait until it is so, as docs/control.md has it: {@code /v1/topics/shipped/wait?records=1}. */
    void await(String path) {
        ask("GET", path + "&timeout=10", "");
    }

    /** Ask the control port. What is refused, and a wait that was in vain, is a failure that says why. */
    void ask(String method, String path, String json) {
        var body = BodyPublishers.ofString(json);
        var request = HttpRequest.newBuilder(URI.create(controlUrl + path)).method(method, body).build();
        try {
            HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
            if (response.statusCode() >= 400) {
                throw new AssertionError(path + ": " + response.body());
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the control port was asked", error);
        }
    }
}
