package io.kafkastub.model;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** The bytes of a record's key, value or header. Those that are no null only: null stands for null. */
public final class RecordData {
    private final byte[] bytes;

    private RecordData(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Of what the control port says: a text, or {@code {"base64": …}}. */
    public static RecordData of(Object json) {
        if (json instanceof String) {
            return new RecordData(((String) json).getBytes(StandardCharsets.UTF_8));
        }
        return new RecordData(Base64.getDecoder().decode((String) ((Map<?, ?>) json).get("base64")));
    }

    static Map<String, String> encoded(byte[] bytes) {
        return bytes == null ? null : Map.of("base64", Base64.getEncoder().encodeToString(bytes));
    }

    /** The bytes; the array is the caller's own. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The bytes as UTF-8; what is no UTF-8 is replaced by U+FFFD. */
    public String text() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Whether the bytes are this text in UTF-8. */
    public boolean is(String text) {
        return Arrays.equals(bytes, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordData && Arrays.equals(bytes, ((RecordData) other).bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The same as {@link #text()}. */
    @Override
    public String toString() {
        return text();
    }
}
