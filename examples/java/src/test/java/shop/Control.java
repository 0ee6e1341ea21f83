package shop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** The control port of a stub, {@code kafkastub serve --control-port 0}. Waits are over after ten seconds. */
public final class Control {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WAIT_SECONDS = 10;

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;

    /** @param url what {@code serve} prints: http://HOST:PORT */
    public Control(String url) {
        this.url = url;
    }

    /** An answer that says no. A wait that was in vain has the status 408, and says what it last saw. */
    public static final class Refused extends RuntimeException {
        private final int status;

        private Refused(int status, String sentence) {
            super(sentence + " (" + status + ")");
            this.status = status;
        }

        public int status() {
            return status;
        }
    }

    // -- the clock

    /** Let broker time stand still. */
    public Instant freeze() {
        return now(post("/v1/clock/freeze", Map.of()));
    }

    /** Let it go on from where it stands. */
    public Instant unfreeze() {
        return now(post("/v1/clock/unfreeze", Map.of()));
    }

    /** Move it forward. Afterwards all that fell due on the way has happened. */
    public Instant advance(Duration by) {
        return now(post("/v1/clock/advance", Map.of("milliseconds", by.toMillis())));
    }

    private static Instant now(JsonNode clock) {
        return Instant.ofEpochMilli(clock.get("now_ms").asLong());
    }

    // -- snapshots

    /** Keep the broker's state under a name, which is free. */
    public void snapshot(String id) {
        post("/v1/snapshots", Map.of("id", id));
    }

    /** Be what it was then. Clients are disconnected, and come back by themselves. */
    public void restore(String id) {
        post("/v1/snapshots/" + escaped(id) + "/restore", Map.of());
    }

    // -- faults

    /** Add a rule as docs/faults.md has it: {@code Map.of("api", "Fetch", "delay_ms", 500)}. */
    public Fault addFault(Map<String, ?> rule) {
        return new Fault("/v1/faults/" + escaped(post("/v1/faults", rule).get("id").asText()));
    }

    /** A rule that is there until it is closed. */
    public final class Fault implements AutoCloseable {
        private final String path;

        private Fault(String path) {
            this.path = path;
        }

        /** Wait until so many requests have met it. */
        public void awaitHits(int hits) {
            await(path + "/wait?hits=" + hits);
        }

        /** Wait until it holds so many requests, or more. */
        public void awaitHeld(int held) {
            await(path + "/wait?held=" + held);
        }

        /** Let all requests go that it holds. */
        public void release() {
            post(path + "/release", Map.of());
        }

        /** Let the first so many go. */
        public void release(int n) {
            post(path + "/release", Map.of("n", n));
        }

        /** Take the rule away; whom it holds goes. */
        @Override
        public void close() {
            ask("DELETE", path, null);
        }
    }

    // -- waits

    /** Wait until a topic has so many records. */
    public void awaitTopic(String topic, int records) {
        await("/v1/topics/" + escaped(topic) + "/wait?records=" + records);
    }

    /** Wait until a group is in a state, such as Stable, and has so many members. */
    public void awaitGroup(String group, String state, int members) {
        await("/v1/groups/" + escaped(group) + "/wait?state=" + escaped(state) + "&members=" + members);
    }

    /** Wait until a group is behind the end of each partition of a topic by so many records at most. */
    public void awaitLag(String group, String topic, int atMost) {
        await("/v1/groups/" + escaped(group) + "/wait?topic=" + escaped(topic) + "&lag=" + atMost);
    }

    /** Wait until nothing was asked for so long, but fetches, heartbeats and metadata. */
    public void awaitQuiet(Duration quiet) {
        await("/v1/journal/wait-quiet?seconds=" + quiet.toMillis() / 1000.0);
    }

    // -- HTTP

    private void await(String path) {
        ask("GET", path + "&timeout=" + WAIT_SECONDS, null);
    }

    private JsonNode post(String path, Map<String, ?> body) {
        return ask("POST", path, body);
    }

    private JsonNode ask(String method, String path, Map<String, ?> body) {
        try {
            var content = body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body));
            var request = HttpRequest.newBuilder(URI.create(url + path)).method(method, content).build();
            var response = client.send(request, BodyHandlers.ofByteArray());
            JsonNode answer = JSON.readTree(response.body());
            if (response.statusCode() >= 400) {
                throw new Refused(response.statusCode(), answer.path("error").asText());
            }
            return answer;
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the control port was asked", error);
        }
    }

    private static String escaped(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
