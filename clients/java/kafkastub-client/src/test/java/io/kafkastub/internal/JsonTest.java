package io.kafkastub.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.kafkastub.model.ClockState;
import io.kafkastub.model.NewTopic;
import io.kafkastub.model.PartitionRef;
import io.kafkastub.model.TopicRecord;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @Test
    void valuesGoThereAndBack() {
        var values = new HashMap<String, Object>();
        values.put("text", "a \"quoted\" \\ line\nand ä 😀 \u0001");
        values.put("numbers", Arrays.asList(0L, -7L, Long.MAX_VALUE, 0.5, -1e300));
        values.put("nothing", null);
        values.put("words", List.of(true, false));
        values.put("empty", Arrays.asList(Map.of(), List.of()));
        assertEquals(values, Json.parse(Json.write(values)));
    }

    @Test
    void escapesAreRead() {
        assertEquals("\u00e4/\b\f\n\r\t\ud83d\ude00", Json.parse("\"\\u00e4\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{", "[1,", "{\"a\"}", "{a:1}", "\"open", "nul", "1 2", "-", "[1]]", "\"\\", "\"\\u12\""})
    void whatIsNoJsonSaysWhere(String text) {
        var refused = assertThrows(IllegalArgumentException.class, () -> Json.parse(text));
        assertEquals("not JSON at ", refused.getMessage().substring(0, "not JSON at ".length()), text);
    }

    @Test
    void tooManyLevelsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> Json.parse("[".repeat(100_000)));
    }

    @Test
    void recordsAreRead() {
        Object json = Json.parse("""
            {"now": "2030-01-01T00:00:00.000Z", "now_ms": 1893456000000, "frozen": true, "later": [1]}
            """);
        var clock = Mapping.read(json, ClockState.class);
        assertEquals(new ClockState(Instant.parse("2030-01-01T00:00:00Z"), 1_893_456_000_000L, true), clock);
    }

    @Test
    void fieldsThatAnOlderBrokerHasNotAreNullOrZero() {
        var clock = Mapping.read(Json.parse("{}"), ClockState.class);
        assertEquals(new ClockState(null, 0, false), clock);
    }

    @Test
    void recordsHaveTextsAndBytes() {
        Object json = Json.parse("""
            {"key": {"base64": "/w=="}, "value": null, "headers": [["a", "b"], ["c", null]]}
            """);
        var record = Mapping.read(json, TopicRecord.class);
        assertEquals(1, record.key().bytes().length);
        assertNull(record.value());
        assertEquals("b", record.headers().get(0).value().text());
        assertNull(record.headers().get(1).value());
    }

    @Test
    void bodiesAreWrittenByTheNamesOfThePort() {
        assertEquals("{\"topic\":\"orders\",\"partition\":3}", Json.write(new PartitionRef("orders", 3)));
        assertEquals(
                "{\"name\":\"orders\",\"replication_factor\":2}",
                Json.write(new NewTopic("orders").replicationFactor(2)));
    }
}
