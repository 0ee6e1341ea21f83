import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.protocol.Errors;

/** Members of share groups, which acknowledge record by record. */
final class Sharers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, KafkaShareConsumer<String, String>> consumers = new HashMap<>();
    /** What they have got, by the places of the records. */
    private final Map<String, Map<String, ConsumerRecord<String, String>>> held = new HashMap<>();

    JsonNode serve(JsonNode request) {
        String name = request.get("consumer").asText();
        switch (request.get("verb").asText()) {
            case "share_subscribe":
                consumers.put(name, opened(request));
                return null;
            case "share_poll":
                return polled(name, request.get("ms").asLong());
            case "share_acknowledge":
                for (JsonNode one : request.get("records")) {
                    AcknowledgeType type = AcknowledgeType.valueOf(one.get(3).asText().toUpperCase(Locale.ROOT));
                    String place = place(one.get(0).asText(), one.get(1).asInt(), one.get(2).asLong());
                    consumers.get(name).acknowledge(held.get(name).get(place), type);
                }
                return committed(consumers.get(name));
            case "share_close":
                consumers.remove(name).close();
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private static KafkaShareConsumer<String, String> opened(JsonNode request) {
        Properties properties = new Properties();
        request.get("config").fields().forEachRemaining(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        String deserializer = "org.apache.kafka.common.serialization.StringDeserializer";
        properties.put("key.deserializer", deserializer);
        properties.put("value.deserializer", deserializer);
        properties.put("share.acknowledgement.mode", "explicit");
        KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(properties);
        Set<String> topics = new TreeSet<>();
        request.get("topics").forEach(one -> topics.add(one.asText()));
        consumer.subscribe(topics);
        return consumer;
    }

    /** Rows of topic, partition, offset, value and how often it was delivered by now. */
    private JsonNode polled(String name, long ms) {
        ArrayNode found = JSON.createArrayNode();
        for (ConsumerRecord<String, String> one : consumers.get(name).poll(Duration.ofMillis(ms))) {
            held.computeIfAbsent(name, key -> new HashMap<>()).put(place(one.topic(), one.partition(), one.offset()), one);
            found.addArray().add(one.topic()).add(one.partition()).add(one.offset()).add(one.value())
                .add(one.deliveryCount().orElse((short) 0));
        }
        return found;
    }

    private static String place(String topic, int partition, long offset) {
        return topic + "-" + partition + "-" + offset;
    }

    /** By partition, as TOPIC-N: the error, or NONE. */
    private static JsonNode committed(KafkaShareConsumer<String, String> consumer) {
        ObjectNode results = JSON.createObjectNode();
        consumer.commitSync().forEach((place, error) ->
            results.put(place.topicPartition().toString(), error.map(Errors::forException).orElse(Errors.NONE).name()));
        return results;
    }
}
