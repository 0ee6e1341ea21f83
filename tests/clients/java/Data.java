import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Records as bytes, with headers, and consumers of assigned partitions. Bytes are base64 on the pipe, null is null. */
final class Data {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, KafkaConsumer<byte[], byte[]>> consumers = new HashMap<>();

    JsonNode serve(JsonNode request) throws Exception {
        switch (request.get("verb").asText()) {
            case "data_send":
                return send(request);
            case "data_open":
                open(request);
                return null;
            case "data_poll":
                return records(consumer(request).poll(Duration.ofMillis(request.get("ms").asLong())));
            case "data_go":
                go(consumer(request), request);
                return null;
            case "data_close":
                consumers.remove(request.get("consumer").asText()).close();
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    /** Send records [partition, timestamp or null, key, value, [[header, value], ...]]; their offsets. */
    private static JsonNode send(JsonNode request) throws Exception {
        String topic = request.get("topic").asText();
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer =
                 new KafkaProducer<>(properties(request), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (JsonNode record : request.get("records")) {
                Long timestamp = record.get(1).isNull() ? null : record.get(1).asLong();
                ProducerRecord<byte[], byte[]> one = new ProducerRecord<>(
                    topic, record.get(0).asInt(), timestamp, bytes(record.get(2)), bytes(record.get(3)));
                record.get(4).forEach(header -> one.headers().add(header.get(0).asText(), bytes(header.get(1))));
                sent.add(producer.send(one));
            }
        }
        ArrayNode offsets = JSON.createArrayNode();
        for (Future<RecordMetadata> future : sent) {
            offsets.add(future.get().offset());
        }
        return offsets;
    }

    private void open(JsonNode request) {
        KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(properties(request), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumers.put(request.get("consumer").asText(), consumer);
        List<TopicPartition> partitions = new ArrayList<>();
        request.get("partitions").forEach(
            index -> partitions.add(new TopicPartition(request.get("topic").asText(), index.asInt())));
        consumer.assign(partitions);
    }

    private static void go(KafkaConsumer<byte[], byte[]> consumer, JsonNode request) {
        TopicPartition place = new TopicPartition(request.get("topic").asText(), request.get("partition").asInt());
        switch (request.get("what").asText()) {
            case "seek":
                consumer.seek(place, request.get("to").asLong());
                return;
            case "seek_to_beginning":
                consumer.seekToBeginning(Set.of(place));
                return;
            case "seek_to_end":
                consumer.seekToEnd(Set.of(place));
                consumer.position(place); // goes there now, not with the next poll
                return;
            case "seek_to_time":
                long to = request.get("to").asLong();
                consumer.seek(place, consumer.offsetsForTimes(Map.of(place, to)).get(place).offset());
                return;
            case "pause":
                consumer.pause(Set.of(place));
                return;
            case "resume":
                consumer.resume(Set.of(place));
                return;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private static ArrayNode records(Iterable<ConsumerRecord<byte[], byte[]>> polled) {
        ArrayNode found = JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : polled) {
            ArrayNode one = found.addArray().add(record.partition()).add(record.offset()).add(text(record.key()))
                .add(text(record.value()));
            ArrayNode headers = one.addArray();
            for (Header header : record.headers()) {
                headers.addArray().add(header.key()).add(text(header.value()));
            }
            one.add(record.timestamp());
        }
        return found;
    }

    private KafkaConsumer<byte[], byte[]> consumer(JsonNode request) {
        return consumers.get(request.get("consumer").asText());
    }

    private static Properties properties(JsonNode request) {
        Properties properties = new Properties();
        request.get("config").fields().forEachRemaining(
            entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        return properties;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}
