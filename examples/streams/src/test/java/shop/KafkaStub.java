package shop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A broker as a process, and its control port as far as a streams group needs it. Waits are over after 30 seconds. */
final class KafkaStub implements AutoCloseable {
    private static final Pattern READY = Pattern.compile("kafkastub ready on (\\S+) .*");
    private static final Pattern CONTROL = Pattern.compile("kafkastub control port on (\\S+)");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WAIT_SECONDS = 30;

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final Process process;
    private final String control;
    final String bootstrapServers;

    /** @param topics NAME:PARTITIONS of each topic that is there from the start */
    KafkaStub(String... topics) throws IOException {
        var command = new ArrayList<String>();
        command.add(Optional.ofNullable(System.getenv("KAFKASTUB")).orElse("kafkastub"));
        command.addAll(List.of("serve", "--port", "0", "--control-port", "0", "--topic"));
        command.addAll(List.of(topics));
        // Members speak every 50 ms, and nobody waits for more of them.
        for (String setting : List.of(
                "min.heartbeat.interval.ms=50",
                "heartbeat.interval.ms=50",
                "assignment.interval.ms=0",
                "initial.rebalance.delay.ms=0")) {
            command.addAll(List.of("--config", "group.streams." + setting));
        }
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader out = process.inputReader();
        bootstrapServers = next(out, READY);
        control = next(out, CONTROL);
    }

    private static String next(BufferedReader out, Pattern wanted) throws IOException {
        String line = out.readLine();
        Matcher found = wanted.matcher(line == null ? "" : line);
        if (!found.matches()) {
            throw new IOException("kafkastub did not start; it said: " + line);
        }
        return found.group(1);
    }

    /** So many copies of each state. */
    void keepStandbys(String group, int count) throws Exception {
        ask("PUT", "/v1/streams-groups/" + group + "/configs", Map.of("configs", Map.of("streams.num.standby.replicas", count)));
    }

    /** Wait until the group has so many members, and every task is worked on. */
    void awaitMembers(String group, int count) throws Exception {
        ask("GET", "/v1/groups/" + group + "/wait?state=Stable&members=" + count + "&timeout=" + WAIT_SECONDS, null);
    }

    /** Wait until each of these members works on exactly these tasks, such as 1_0 for partition 0 of subtopology 1. */
    void awaitTasks(String group, Map<String, List<String>> tasks) throws Exception {
        var active = new HashMap<String, List<Map<String, Object>>>();
        tasks.forEach((member, some) -> active.put(member, some.stream().map(KafkaStub::task).toList()));
        ask("POST", "/v1/streams-groups/" + group + "/wait", Map.of("active", active, "timeout", WAIT_SECONDS));
    }

    private static Map<String, Object> task(String name) {
        String[] parts = name.split("_");
        return Map.of("subtopology", parts[0], "partition", Integer.parseInt(parts[1]));
    }

    /** Wait until all of a topic is worked on, and committed. */
    void awaitDone(String group, String topic) throws Exception {
        ask("GET", "/v1/groups/" + group + "/wait?topic=" + topic + "&lag=0&timeout=" + WAIT_SECONDS, null);
    }

    /** Wait until a topic has so many records. */
    void awaitRecords(String topic, int count) throws Exception {
        ask("GET", "/v1/topics/" + topic + "/wait?records=" + count + "&timeout=" + WAIT_SECONDS, null);
    }

    /** Move the clock, that of sessions too. */
    void advance(Duration by) throws Exception {
        ask("POST", "/v1/clock/advance", Map.of("milliseconds", by.toMillis(), "timers", true));
    }

    /** Wait until a member has spoken once more. */
    void awaitHeartbeat(String clientId) throws Exception {
        ask("DELETE", "/v1/journal", null);
        ask("GET", "/v1/journal/wait?api=StreamsGroupHeartbeat&client_id=" + clientId + "&timeout=" + WAIT_SECONDS, null);
    }

    private JsonNode ask(String method, String path, Map<String, ?> body) throws Exception {
        var content = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body));
        var request = HttpRequest.newBuilder(URI.create(control + path)).method(method, content).build();
        var response = client.send(request, BodyHandlers.ofByteArray());
        JsonNode answer = JSON.readTree(response.body());
        if (response.statusCode() >= 400) {
            throw new AssertionError(answer.path("error").asText() + " (" + response.statusCode() + ")");
        }
        return answer;
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        process.waitFor(5, TimeUnit.SECONDS);
    }
}
