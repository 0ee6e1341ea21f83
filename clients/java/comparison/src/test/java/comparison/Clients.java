package comparison;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own clients, the same for all. */
final class Clients {
    private Clients() {}

    static KafkaConsumer<String, String> consumer(String servers, String group, String id) {
        var settings = Map.<String, Object>of(
                "bootstrap.servers",
                servers,
                "group.id",
                group,
                "client.id",
                id,
                "enable.auto.commit",
                "false",
                "auto.offset.reset",
                "earliest",
                "fetch.max.wait.ms",
                "20", // else each close waits for half a second, whatever the broker
                "isolation.level",
                "read_committed");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    static KafkaProducer<String, String> producer(String servers, Map<String, ?> more) {
        var settings = new HashMap<String, Object>(more);
        settings.put("bootstrap.servers", servers);
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    /** The next values, so many. */
    static List<String> values(KafkaConsumer<String, String> consumer, int count) {
        var found = new ArrayList<String>();
        while (found.size() < count) {
            consumer.poll(Duration.ofSeconds(1)).forEach(record -> found.add(record.value()));
        }
        return found;
    }
}
