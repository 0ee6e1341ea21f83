import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
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
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's Java clients and command-line tools behind a pipe, so that many tests share the start of one JVM.
 *
 * A request is one line of JSON on standard input, {"verb": …, …}; its answer is one line on standard output,
 * {"value": …} or {"error": {"code": a name of Kafka's Errors, "text": …}}. A tool's own output is part of its answer.
 * The JVM ends when its standard input ends.
 */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, KafkaConsumer<String, String>> consumers = new HashMap<>();
    private final Map<String, Admin> admins = new HashMap<>();
    private final Data data = new Data();
    private final WordCount streams = new WordCount();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(System.err);
        Driver driver = new Driver();
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("value", driver.serve(JSON.readTree(line)));
            } catch (Throwable problem) {
                Throwable cause = problem instanceof ExecutionException ? problem.getCause() : problem;
                answer.putObject("error").put("code", Errors.forException(cause).name()).put("text", cause.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        Runtime.getRuntime().halt(0);
    }

    private JsonNode serve(JsonNode request) throws Exception {
        String verb = request.get("verb").asText();
        if (verb.startsWith("data_")) {
            return data.serve(request);
        }
        if (verb.startsWith("word_count_")) {
            return streams.serve(request);
        }
        switch (verb) {
            case "tool":
                return Tool.run(request);
            case "produce":
                return produce(request);
            case "subscribe":
                KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties(request.get("config")));
                consumers.put(request.get("consumer").asText(), consumer);
                consumer.subscribe(texts(request.get("topics")));
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
                String servers = request.get("servers").asText();
                Admin admin = admins.computeIfAbsent(servers, key -> Admin.create(Map.of("bootstrap.servers", key)));
                return administrate(admin, request);
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

    /** One run of a command-line tool inside this JVM: {"main": class, "args": [...], "stdin": text}. */
    private static final class Tool {
        private static final class Ended extends Error {
            private static final long serialVersionUID = 1;
        }

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private final List<Runnable> hooks = new ArrayList<>();
        private ObjectNode result;

        static JsonNode run(JsonNode request) throws Exception {
            return new Tool().call(request);
        }

        private JsonNode call(JsonNode request) throws Exception {
            PrintStream outBefore = System.out;
            PrintStream errBefore = System.err;
            InputStream inBefore = System.in;
            List<String> args = new ArrayList<>();
            request.get("args").forEach(arg -> args.add(arg.asText()));
            System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
            System.setIn(new ByteArrayInputStream(request.get("stdin").asText().getBytes(StandardCharsets.UTF_8)));
            Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
            Exit.setExitProcedure((status, message) -> {
                end(status);
                throw new Ended();
            });
            try {
                Class<?> tool = Class.forName(request.get("main").asText());
                forget(tool);
                tool.getMethod("main", String[].class).invoke(null, (Object) args.toArray(new String[0]));
                end(0);
            } catch (InvocationTargetException thrown) {
                if (!(thrown.getCause() instanceof Ended)) {
                    thrown.getCause().printStackTrace();
                    end(1);
                }
            } finally {
                Exit.resetShutdownHookAdder();
                Exit.resetExitProcedure();
                System.setOut(outBefore);
                System.setErr(errBefore);
                System.setIn(inBefore);
            }
            return result;
        }

        /** What the tool has done until its first exit; what it does after an exit that did not end it, is void. */
        private void end(int status) {
            if (result == null) {
                hooks.forEach(Runnable::run);
                result = JSON.createObjectNode().put("status", status).put("out", out.toString(StandardCharsets.UTF_8))
                    .put("err", err.toString(StandardCharsets.UTF_8));
            }
        }

        /** The console consumer counts in a static field, as it has a JVM of its own in its normal life. */
        private static void forget(Class<?> tool) throws Exception {
            for (Field field : tool.getDeclaredFields()) {
                if (field.getName().equals("messageCount")) {
                    field.setAccessible(true);
                    field.setInt(null, 0);
                }
            }
        }
    }
}
