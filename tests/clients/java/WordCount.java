import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.Stores;

/**
 * Kafka Streams counting words: lines are read from one topic, go through a repartition topic named "words" (a word
 * becomes the key) into a store "counts" with its changelog, and every new count is written to another topic. The store
 * is in memory, so an application that starts again has to restore it from the changelog.
 */
final class WordCount {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final class Running implements StateRestoreListener {
        final Map<String, Long> restored = new ConcurrentHashMap<>();
        KafkaStreams streams;

        @Override
        public void onRestoreStart(TopicPartition partition, String store, long from, long to) { }

        @Override
        public void onBatchRestored(TopicPartition partition, String store, long end, long count) { }

        @Override
        public void onRestoreEnd(TopicPartition partition, String store, long total) {
            restored.merge(store, total, Long::sum);
        }
    }

    private final Map<String, Running> applications = new HashMap<>();

    JsonNode serve(JsonNode request) throws InterruptedException {
        String name = request.get("name").asText();
        switch (request.get("verb").asText()) {
            case "word_count_start":
                applications.put(name, start(request));
                return null;
            case "word_count_look":
                return look(applications.get(name));
            case "word_count_stop":
                applications.remove(name).streams.close(CloseOptions.groupMembershipOperation(
                    CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private static Running start(JsonNode request) {
        StreamsBuilder topology = new StreamsBuilder();
        Materialized<String, Long, KeyValueStore<Bytes, byte[]>> counts =
            Materialized.as(Stores.inMemoryKeyValueStore("counts"));
        topology.<String, String>stream(request.get("from").asText())
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.as("words"))
            .count(counts.withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
            .toStream()
            .mapValues(count -> count.toString())
            .to(request.get("to").asText());
        Properties properties = new Properties();
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        request.get("config").fields().forEachRemaining(
            entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        Running running = new Running();
        running.streams = new KafkaStreams(topology.build(), properties);
        running.streams.setGlobalStateRestoreListener(running);
        running.streams.start();
        return running;
    }

    /** {"state": of the application, "restored": records, "counts": by word, null while the store is not open}. */
    private static JsonNode look(Running running) throws InterruptedException {
        synchronized (running) {
            running.wait(20); // whoever looks until something is there does not keep a processor busy
        }
        ObjectNode seen = JSON.createObjectNode().put("state", running.streams.state().name());
        seen.put("restored", running.restored.getOrDefault("counts", 0L));
        try (KeyValueIterator<String, Long> all = running.streams.store(StoreQueryParameters.fromNameAndType(
                "counts", QueryableStoreTypes.<String, Long>keyValueStore())).all()) {
            ObjectNode counts = JSON.createObjectNode();
            all.forEachRemaining(entry -> counts.put(entry.key, entry.value));
            seen.set("counts", counts);
        } catch (InvalidStateStoreException notOpen) {
            seen.putNull("counts");
        }
        return seen;
    }
}
