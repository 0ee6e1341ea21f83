package io.kafkastub;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own clients. */
public final class Clients {
    private Clients() {}

    /** A consumer of the group "shipping". */
    public static KafkaConsumer<String, String> consumer(KafkaStub stub, String id) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", stub.bootstrapServers(),
                        "client.id", id,
                        "group.id", "shipping",
                        "enable.auto.commit", "false",
                        "auto.offset.reset", "earliest",
                        "fetch.max.wait.ms", "20"),
                new StringDeserializer(),
                new StringDeserializer());
    }

    /** A producer with these settings. */
    public static KafkaProducer<String, String> producer(KafkaStub stub, Map<String, ?> settings) {
        var all = new HashMap<String, Object>(settings);
        all.put("bootstrap.servers", stub.bootstrapServers());
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    /** The next values, so many. */
    public static List<String> values(KafkaConsumer<String, String> consumer, int count) {
        var found = new ArrayList<String>();
        while (found.size() < count) {
            consumer.poll(Duration.ofSeconds(10)).forEach(record -> found.add(record.value()));
        }
        return found;
    }
}
