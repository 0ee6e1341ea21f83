package io.kafkastub.control;

import io.kafkastub.internal.Json;
import io.kafkastub.internal.Mapping;
import io.kafkastub.model.ClearedJournal;
import io.kafkastub.model.Decoded;
import io.kafkastub.model.JournalEntry;
import io.kafkastub.model.JournalPage;
import io.kafkastub.model.JournalQuery;
import java.util.List;
import java.util.stream.Stream;

/** Every request with its answer, the newest 10,000 (docs/journal.md). */
public final class Journal {
    private final Port port;

    Journal(Port port) {
        this.port = port;
    }

    /** The newest entries, so many, the oldest of them first. */
    public List<JournalEntry> tail(int limit) {
        return page(new JournalQuery().limit(limit)).entries();
    }

    /** Entries that match, oldest first: the newest 100, unless the query says otherwise. */
    public List<JournalEntry> entries(JournalQuery query) {
        return page(query).entries();
    }

    /** Entries that match, with the number from which to go on. */
    public JournalPage page(JournalQuery query) {
        return port.call(Route.GET_JOURNAL).query(query).as(JournalPage.class);
    }

    /** Return an entry field by field, with its bytes. */
    public Decoded decode(long sequence) {
        return port.call(Route.GET_JOURNAL_SEQUENCE, sequence).as(Decoded.class);
    }

    /** The same, with so many fields and so many bytes at most. */
    public Decoded decode(long sequence, int fields, int bytes) {
        return port.call(Route.GET_JOURNAL_SEQUENCE, sequence)
                .query("fields", fields)
                .query("bytes", bytes)
                .as(Decoded.class);
    }

    /** Entries from now on, each when it is answered. The stream ends when it is closed, or with the broker. */
    public Stream<JournalEntry> follow(JournalQuery query) {
        return port.call(Route.GET_JOURNAL_FOLLOW)
                .query(query)
                .lines()
                .filter(line -> !line.isBlank())
                .map(line -> Mapping.read(Json.parse(line), JournalEntry.class));
    }

    /** Entries that match as lines of JSON. */
    public String exportJsonLines(JournalQuery query) {
        return port.call(Route.GET_JOURNAL_EXPORT)
                .query(query)
                .query("format", "jsonl")
                .text();
    }

    /** Entries that match as a file of Parquet. */
    public byte[] exportParquet(JournalQuery query) {
        return port.call(Route.GET_JOURNAL_EXPORT)
                .query(query)
                .query("format", "parquet")
                .bytes();
    }

    /** Forget all entries; returns how many there were. Sequence numbers go on. */
    public long clear() {
        return port.call(Route.DELETE_JOURNAL).as(ClearedJournal.class).removed();
    }
}
