package io.kafkastub.model;

import io.kafkastub.internal.Mapping;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** A request that was asked, with what came of it; or a move of the broker's clock. docs/journal.md has all columns. */
public final class JournalEntry {
    private final Map<String, Object> columns;

    /**
     * @param columns as the control port has them
     */
    public JournalEntry(Map<String, Object> columns) {
        this.columns = Collections.unmodifiableMap(columns);
    }

    /** All columns, by their names: also those that have no method here, such as {@code request_message}. */
    public Map<String, Object> columns() {
        return columns;
    }

    /** The number of the entry, counted from the start of the journal. */
    public long sequence() {
        return number("sequence");
    }

    /** {@code request}, or {@code clock} where the broker's clock was moved. */
    public String kind() {
        return text("kind");
    }

    /** Arrival by the broker's clock. */
    public Instant brokerTime() {
        return Mapping.instant(text("broker_time"));
    }

    /** Arrival by the machine's clock. */
    public Instant wallTime() {
        return Mapping.instant(text("wall_time"));
    }

    /** Microseconds to the answer; -1 where there was none. */
    public long durationMicros() {
        return columns.get("duration_us") == null ? -1 : number("duration_us");
    }

    /** The number of the connection, from 1. */
    public long connection() {
        return number("connection_id");
    }

    /** The client id of the request; null where it has none. */
    public String clientId() {
        return text("client_id");
    }

    /** Who the client is: {@code User:ANONYMOUS}. */
    public String principal() {
        return text("principal");
    }

    /** The name of the API: {@code OffsetCommit}. */
    public String api() {
        return text("api");
    }

    /** The version of the request. */
    public int apiVersion() {
        return (int) number("api_version");
    }

    /** The node that was asked. */
    public int node() {
        return (int) number("node_id");
    }

    /** The groups that the request names. */
    public List<String> groups() {
        return texts("groups");
    }

    /** The topics that the request names. */
    public List<String> topics() {
        return texts("topics");
    }

    /** The names of the error codes in the answer, without NONE. */
    public List<String> errors() {
        return ((List<?>) columns.getOrDefault("errors", List.of()))
                .stream()
                        .map(error -> (String) ((Map<?, ?>) error).get("name"))
                        .filter(name -> !name.equals("NONE"))
                        .toList();
    }

    /** {@code reply}, {@code pending}, {@code no_reply}, {@code closed}, {@code refused}, {@code dropped}. */
    public String outcome() {
        return text("outcome");
    }

    /** The id of the fault that the request has met; null where it has met none. */
    public String fault() {
        return text("fault");
    }

    /** A line for people: when, who, what, and what came of it. */
    public String text() {
        return text("text");
    }

    private String text(String column) {
        return (String) columns.get(column);
    }

    private long number(String column) {
        return ((Number) columns.getOrDefault(column, -1L)).longValue();
    }

    @SuppressWarnings("unchecked")
    private List<String> texts(String column) {
        return Collections.unmodifiableList((List<String>) columns.getOrDefault(column, List.of()));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof JournalEntry && columns.equals(((JournalEntry) other).columns);
    }

    @Override
    public int hashCode() {
        return columns.hashCode();
    }

    /** The same as {@link #text()}. */
    @Override
    public String toString() {
        return text();
    }
}
