package comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/** What each of many tests does: a record is produced, consumed by a group, and committed. */
final class Many {
    private Many() {}

    static void aRecordArrives(String servers, String topic) {
        try (var producer = Clients.producer(servers, Map.of());
                var consumer = Clients.consumer(servers, topic, "one")) {
            producer.send(new ProducerRecord<>(topic, "7", "two teapots"));
            consumer.subscribe(List.of(topic));
            assertEquals(List.of("two teapots"), Clients.values(consumer, 1));
            consumer.commitSync();
        }
    }
}
