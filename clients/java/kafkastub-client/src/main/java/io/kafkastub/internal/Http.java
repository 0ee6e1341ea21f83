package io.kafkastub.internal;

import java.net.http.HttpClient;
import java.time.Duration;

/** The HTTP client of a JVM. Not for users. */
public final class Http {
    /** One for all stubs: its connections are kept, and its threads end with the JVM. */
    public static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private Http() {}
}
