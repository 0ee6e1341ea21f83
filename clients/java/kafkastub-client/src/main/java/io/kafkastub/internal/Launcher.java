package io.kafkastub.internal;

import io.kafkastub.StubStartException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One process for all stubs of a JVM: {@code kafkastub launcher}. It makes a stub in milliseconds, and ends with its
 * standard input, which this JVM holds: so it ends with the JVM, however that ends. Not for users.
 */
public final class Launcher {
    private static final Pattern READY = Pattern.compile("kafkastub launcher ready on (\\S+) \\(token (\\S+)\\)");
    private static final Map<Path, Launcher> RUNNING = new ConcurrentHashMap<>();
    /** More than it takes, on a machine with much other work too (docs/launcher.md). */
    private static final Duration LONGEST_START = Duration.ofSeconds(180);
    private static final int MOST_LINES = 50;

    private final Process process;
    private final String url;
    private final String token;
    private final Deque<String> log = new ArrayDeque<>();

    /** The launcher of a command; the first caller starts it. */
    public static Launcher of(Path command) {
        return RUNNING.compute(
                command,
                (key, known) -> known != null && known.process.isAlive() ? known : new Launcher(key, LONGEST_START));
    }

    /** {@code limit} is how long it may take to be ready. */
    Launcher(Path command, Duration limit) {
        try {
            process = new ProcessBuilder(command.toString(), "launcher").start();
        } catch (IOException error) {
            throw new StubStartException(command + " cannot be started: " + error.getMessage(), error);
        }
        Thread reader = daemon("kafkastub-log", process.errorReader(), true);
        String line = firstLine(limit);
        Matcher found = READY.matcher(line == null ? "" : line);
        if (!found.matches()) {
            String what = line == null
                    ? " launcher is not ready after " + limit.toMillis() + " ms"
                    : " launcher did not start";
            throw new StubStartException(command + what + said(reader));
        }
        url = found.group(1);
        token = found.group(2);
        daemon("kafkastub-output", process.inputReader(), false);
    }

    /** The first line on standard output; "" if it ends without one, null if the time is over. */
    private String firstLine(Duration limit) {
        var line = new CompletableFuture<String>();
        var thread = new Thread(
                () -> {
                    try {
                        String first = process.inputReader().readLine();
                        line.complete(first == null ? "" : first);
                    } catch (IOException error) {
                        line.complete("");
                    }
                },
                "kafkastub-start");
        thread.setDaemon(true);
        thread.start();
        try {
            return line.get(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException error) {
            return null;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    private Thread daemon(String name, BufferedReader lines, boolean keep) {
        boolean shown = Boolean.getBoolean("kafkastub.log");
        var thread = new Thread(
                () -> {
                    try {
                        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                            if (keep) {
                                keep(line, shown);
                            }
                        }
                    } catch (IOException error) {
                        // the process has ended
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void keep(String line, boolean shown) {
        synchronized (log) {
            log.addLast(line);
            if (log.size() > MOST_LINES) {
                log.removeFirst();
            }
        }
        if (shown) {
            System.err.println(line);
        }
    }

    /** End the process. What it has said on standard error: after a colon, or nothing. */
    private String said(Thread reader) {
        try {
            process.waitFor(2, TimeUnit.SECONDS); // to destroy it closes its standard error
            reader.join(1000);
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        synchronized (log) {
            return log.isEmpty() ? "" : ": " + String.join("\n", log);
        }
    }

    /**
     * Make a stub.
     *
     * @param options as the launcher names them
     * @return the stub, as the launcher describes it
     * @throws StubStartException if it is refused
     */
    public Map<String, Object> start(Map<String, Object> options) {
        HttpResponse<String> answer = send("POST", "/v1/stubs", Json.write(options));
        Map<String, Object> found = object(answer.body());
        if (answer.statusCode() >= 400) {
            throw new StubStartException("a stub was refused: " + found.get("error"));
        }
        return found;
    }

    /** End a stub. One that has ended already is no error. */
    public void stop(String id) {
        if (process.isAlive()) {
            send("DELETE", "/v1/stubs/" + id, "");
        }
    }

    private HttpResponse<String> send(String method, String path, String body) {
        var request = HttpRequest.newBuilder(URI.create(url + path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .header("Authorization", "Bearer " + token)
                .timeout(LONGEST_START)
                .build();
        try {
            return Http.CLIENT.send(request, BodyHandlers.ofString());
        } catch (IOException error) {
            throw new StubStartException(
                    "the launcher of stubs, process " + process.pid() + ", does not answer: " + error, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new StubStartException("interrupted while a stub was started or stopped", error);
        }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(String text) {
        return (Map<String, Object>) Json.parse(text);
    }
}
