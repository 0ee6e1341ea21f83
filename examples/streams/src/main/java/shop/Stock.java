package shop;

import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * Counts how often each article was sold: of two subtopologies, 0 names the article of a sale, 1 counts.
 * {@code java shop.Stock BOOTSTRAP_SERVERS CLIENT_ID FOLDER} is an instance.
 */
public final class Stock {
    private Stock() {}

    static Topology topology() {
        var builder = new StreamsBuilder();
        builder.<String, String>stream("sales")
                .groupBy((sale, article) -> article, Grouped.as("articles"))
                .count(Materialized.<String, Long>as(Stores.inMemoryKeyValueStore("sold")).withCachingDisabled())
                .toStream()
                .mapValues(count -> Long.toString(count))
                .to("sold");
        return builder.build();
    }

    public static void main(String[] args) {
        var settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        settings.put(StreamsConfig.CLIENT_ID_CONFIG, args[1]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[2]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "stock");
        settings.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, "streams");
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        settings.put("auto.offset.reset", "earliest");
        new KafkaStreams(topology(), settings).start();
    }
}
