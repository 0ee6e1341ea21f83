import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** Kafka's Java clients behind a pipe (Pipe.java), so that many tests share the start of one JVM. */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, KafkaConsumer<String, String>> consumers = new HashMap<>();
    /** Clusters that a test has at once, at the most. */
    private static final int MOST_ADMINS = 4;

    /** Those of brokers that are gone look for them for ever: twenty-six of them took half a processor. */
    private final Map<String, Admin> admins = new LinkedHashMap<>(8, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Admin> eldest) {
            if (size() <= MOST_ADMINS) {
                return false;
            }
            eldest.getValue().close(Duration.ZERO);
            return true;
        }
    };
    private final Data data = new Data();
    private final Sharers sharers = new Sharers();

    public static void main(String[] args) throws Exception {
        Driver driver = new Driver();
        Pipe.serve(driver::serve);
    }

    private JsonNode serve(JsonNode request) throws Exception {
        String verb = request.get("verb").asText();
        if (verb.startsWith("data_")) {
            return data.serve(request);
        }
        if (verb.startsWith("share_")) {
            return sharers.serve(request);
        }
        if (verb.startsWith("streams_")) {
            return StreamsGroups.serve(admin(request), request);
        }
        switch (verb) {
            case "produce":
                return produce(request);
            case "subscribe":
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties(request.get("config")));
                consumers.put(request.get("consumer").asText(), consumer);
                if (request.path("pattern").asText().isEmpty()) {
                    consumer.subscribe(texts(request.get("topics")));
                } else {
                    consumer.subscribe(new SubscriptionPattern(request.get("pattern").asText()));
                }
                return null;
            case "poll":
                return records(request);
            case "assignment":
                return partitions(consumer(request).assignment());
            case "commit":
                consumer(request).commitSync();
                return null;
            case "seek_to_time":
                return seekToTime(consumer(request), request.get("ms").asLong());
            case "close":
                consumers.remove(request.get("consumer").asText()).close();
                return null;
            case "admin":
                return administrate(admin(request), request);
            case "close_admin":
                Admin closing = admins.remove(request.get("servers").asText());
                if (closing != null) {
                    closing.close();
                }
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private Admin admin(JsonNode request) {
        String servers = request.get("servers").asText();
        return admins.computeIfAbsent(servers, key -> Admin.create(Map.of("bootstrap.servers", key)));
    }

    private KafkaConsumer<String, String> consumer(JsonNode request) {
        return consumers.get(request.get("consumer").asText());
    }

    /** Send records [partition or null, key or null, value, timestamp or null]; their partitions and offsets. */
    private static JsonNode produce(JsonNode request) throws Exception {
        String topic = request.get("topic").asText();
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties(request.get("config")))) {
            for (JsonNode record : request.get("records")) {
                Integer partition = record.get(0).isNull() ? null : record.get(0).asInt();
                String key = record.get(1).isNull() ? null : record.get(1).asText();
                Long timestamp = record.get(3).isNull() ? null : record.get(3).asLong();
                sent.add(producer.send(new ProducerRecord<>(topic, partition, timestamp, key, record.get(2).asText())));
            }
        }
        ArrayNode places = JSON.createArrayNode();
        for (Future<RecordMetadata> future : sent) {
            places.addArray().add(future.get().partition()).add(future.get().offset());
        }
        return places;
    }

    private JsonNode records(JsonNode request) {
        ArrayNode found = JSON.createArrayNode();
        for (ConsumerRecord<String, String> record : consumer(request).poll(Duration.ofMillis(request.get("ms").asLong()))) {
            found.addArray().add(record.topic()).add(record.partition()).add(record.offset()).add(record.key())
                .add(record.value()).add(record.timestamp());
        }
        return found;
    }

    private static JsonNode seekToTime(KafkaConsumer<String, String> consumer, long ms) {
        Map<TopicPartition, Long> wanted = new HashMap<>();
        consumer.assignment().forEach(partition -> wanted.put(partition, ms));
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(wanted);
        for (TopicPartition partition : wanted.keySet()) {
            if (found.get(partition) == null) {
                consumer.seekToEnd(Set.of(partition));
                consumer.position(partition);
            } else {
                consumer.seek(partition, found.get(partition).offset());
            }
        }
        return null;
    }

    private static JsonNode administrate(Admin admin, JsonNode request) throws Exception {
        String name = request.path("name").asText();
        switch (request.get("what").asText()) {
            case "create_topic":
                NewTopic topic = new NewTopic(name, request.get("partitions").asInt(), (short) 1);
                topic.configs(JSON.convertValue(request.get("configs"), JSON.getTypeFactory()
                    .constructMapType(TreeMap.class, String.class, String.class)));
                admin.createTopics(Set.of(topic)).all().get();
                return null;
            case "delete_topic":
                admin.deleteTopics(Set.of(name)).all().get();
                return null;
            case "topics":
                ObjectNode sizes = JSON.createObjectNode();
                admin.describeTopics(admin.listTopics().names().get()).allTopicNames().get()
                    .forEach((key, value) -> sizes.put(key, value.partitions().size()));
                return sizes;
            case "topic_config":
                ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
                ObjectNode entries = JSON.createObjectNode();
                admin.describeConfigs(Set.of(resource)).all().get().get(resource).entries()
                    .forEach(one -> entries.put(one.name(), one.value()));
                return entries;
            case "alter_topic_config":
                ConfigEntry entry = new ConfigEntry(request.get("config").asText(), request.get("value").asText());
                admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, name),
                    Set.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET)))).all().get();
                return null;
            case "groups":
                ArrayNode ids = JSON.createArrayNode();
                admin.listGroups().all().get().stream().map(GroupListing::groupId).forEach(ids::add);
                return ids;
            case "describe_group":
                return described(admin.describeConsumerGroups(Set.of(name)).describedGroups().get(name).get());
            case "committed":
                ArrayNode offsets = JSON.createArrayNode();
                admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get().forEach((partition, offset) ->
                    offsets.addArray().add(partition.topic()).add(partition.partition()).add(offset.offset()));
                return offsets;
            case "delete_group":
                admin.deleteConsumerGroups(Set.of(name)).all().get();
                return null;
            case "delete_offset":
                TopicPartition partition = new TopicPartition(request.get("topic").asText(), request.get("partition").asInt());
                admin.deleteConsumerGroupOffsets(name, Set.of(partition)).partitionResult(partition).get();
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private static JsonNode described(ConsumerGroupDescription group) {
        ObjectNode result = JSON.createObjectNode();
        result.put("state", group.groupState().toString()).put("assignor", group.partitionAssignor());
        ArrayNode members = result.putArray("members");
        for (MemberDescription member : group.members()) {
            members.addArray().add(member.clientId()).add(partitions(member.assignment().topicPartitions()));
        }
        return result;
    }

    private static ArrayNode partitions(Collection<TopicPartition> partitions) {
        ArrayNode pairs = JSON.createArrayNode();
        partitions.forEach(partition -> pairs.addArray().add(partition.topic()).add(partition.partition()));
        return pairs;
    }

    private static Properties properties(JsonNode config) {
        Properties properties = new Properties();
        config.fields().forEachRemaining(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
        for (String side : List.of("key", "value")) {
            String serialization = "org.apache.kafka.common.serialization.String";
            properties.put(side + ".serializer", serialization + "Serializer");
            properties.put(side + ".deserializer", serialization + "Deserializer");
        }
        return properties;
    }

    private static Collection<String> texts(JsonNode array) {
        Set<String> texts = new TreeSet<>();
        array.forEach(node -> texts.add(node.asText()));
        return texts;
    }
}
