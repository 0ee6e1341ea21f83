package io.kafkastub.control;

import io.kafkastub.internal.HasFields;
import io.kafkastub.internal.Http;
import io.kafkastub.internal.Json;
import io.kafkastub.internal.Mapping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** HTTP to a control port: one route at a time, and nothing that is not a route. */
final class Port {
    private static final Pattern IN_BRACES = Pattern.compile("\\{\\w+}");
    private static final Duration LONGEST_ANSWER = Duration.ofSeconds(60);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
    private static final int REQUEST_TIMEOUT = 408;

    private final String url;
    private final String token;

    /** {@code token} is null where the port has none. */
    Port(String url, String token) {
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.token = token;
    }

    String url() {
        return url;
    }

    /** A request; {@code inPath} has the values of the path's parameters, in their order. */
    Call call(Route route, Object... inPath) {
        return new Call(route, inPath);
    }

    /** A request that is put together. */
    final class Call {
        private final Route route;
        private final String path;
        private final Map<String, Object> query = new LinkedHashMap<>();
        private final Map<String, Object> fields = new LinkedHashMap<>();
        private byte[] content;

        private Call(Route route, Object... inPath) {
            this.route = route;
            Matcher braces = IN_BRACES.matcher(route.path);
            var found = new StringBuilder();
            for (int i = 0; braces.find(); i++) {
                braces.appendReplacement(found, Matcher.quoteReplacement(escaped(String.valueOf(inPath[i]))));
            }
            this.path = braces.appendTail(found).toString();
        }

        /** Add a query parameter; null adds none. */
        Call query(String name, Object value) {
            if (value != null) {
                if (!route.query.contains(name)) {
                    throw new IllegalArgumentException(route.method + " " + route.path + " has no " + name);
                }
                query.put(name, value);
            }
            return this;
        }

        Call query(HasFields some) {
            some.toMap().forEach(this::query);
            return this;
        }

        /** Set a field of the body; null sets none. */
        Call field(String name, Object value) {
            if (value != null) {
                fields.put(name, value);
            }
            return this;
        }

        Call fields(HasFields some) {
            fields.putAll(some.toMap());
            return this;
        }

        Call content(byte[] bytes) {
            content = bytes;
            return this;
        }

        /** Send it; the answer as an object of that class. */
        <T> T as(Class<T> type) {
            return Mapping.read(Json.parse(text()), type);
        }

        String text() {
            return new String(bytes(), StandardCharsets.UTF_8);
        }

        byte[] bytes() {
            HttpResponse<byte[]> answer = send(BodyHandlers.ofByteArray(), LONGEST_ANSWER);
            if (answer.statusCode() >= 400) {
                throw refused(answer.statusCode(), answer.body());
            }
            return answer.body();
        }

        /** Send it; the lines of an answer that goes on until the stream is closed. */
        Stream<String> lines() {
            HttpResponse<Stream<String>> answer = send(BodyHandlers.ofLines(), LONGEST_ANSWER);
            if (answer.statusCode() >= 400) {
                String text = String.join("\n", answer.body().toList());
                throw refused(answer.statusCode(), text.getBytes(StandardCharsets.UTF_8));
            }
            return answer.body();
        }

        /**
         * Send it, and wait: the broker answers when it is so. A wait of more than a minute is several requests.
         *
         * @throws WaitTimeoutError when the time is over
         */
        <T> T until(Duration limit, Class<T> type) {
            long end = System.nanoTime() + limit.toNanos();
            while (true) {
                Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
                Duration part = left.compareTo(LONGEST_WAIT) < 0 ? left : LONGEST_WAIT;
                (route.query.contains("timeout") ? query : fields).put("timeout", part.toMillis() / 1000.0);
                HttpResponse<byte[]> answer = send(BodyHandlers.ofByteArray(), part.plus(LONGEST_ANSWER));
                if (answer.statusCode() < 400) {
                    return Mapping.read(Json.parse(new String(answer.body(), StandardCharsets.UTF_8)), type);
                }
                RefusedException refused = refused(answer.statusCode(), answer.body());
                if (refused.status() != REQUEST_TIMEOUT) {
                    throw refused;
                }
                if (part == left) {
                    throw new WaitTimeoutError("after " + limit.toMillis() + " ms: " + sentence(answer.body()));
                }
            }
        }

        private <T> HttpResponse<T> send(BodyHandler<T> handler, Duration limit) {
            var request = HttpRequest.newBuilder(URI.create(url + path + queryText()))
                    .method(route.method, publisher())
                    .timeout(limit);
            if (token != null) {
                request.header("Authorization", "Bearer " + token);
            }
            try {
                return Http.CLIENT.send(request.build(), handler);
            } catch (IOException error) {
                String what = route.method + " " + url + path + ": the control port does not answer";
                throw new UncheckedIOException(what + "; was the stub closed? (" + error + ")", error);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while the control port was asked", error);
            }
        }

        private BodyPublisher publisher() {
            if (content != null) {
                return BodyPublishers.ofByteArray(content);
            }
            if (fields.isEmpty() && (route.method.equals("GET") || route.method.equals("DELETE"))) {
                return BodyPublishers.noBody();
            }
            return BodyPublishers.ofString(Json.write(fields));
        }

        private String queryText() {
            var found = new StringBuilder();
            query.forEach((name, value) -> {
                for (Object one : value instanceof Iterable ? (Iterable<?>) value : List.of(value)) {
                    found.append(found.length() == 0 ? '?' : '&')
                            .append(name)
                            .append('=')
                            .append(escaped(one.toString()));
                }
            });
            return found.toString();
        }
    }

    private static RefusedException refused(int status, byte[] body) {
        try {
            var answer = (Map<?, ?>) Json.parse(new String(body, StandardCharsets.UTF_8));
            return new RefusedException(String.valueOf(answer.get("error")), status, (String) answer.get("code"));
        } catch (IllegalArgumentException | ClassCastException error) {
            return new RefusedException(new String(body, StandardCharsets.UTF_8), status, null);
        }
    }

    private static String sentence(byte[] body) {
        try {
            return String.valueOf(((Map<?, ?>) Json.parse(new String(body, StandardCharsets.UTF_8))).get("error"));
        } catch (IllegalArgumentException | ClassCastException error) {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    private static String escaped(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
