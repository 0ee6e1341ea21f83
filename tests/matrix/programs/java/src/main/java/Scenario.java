import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** kafka-clients plays the scenario. */
public class Scenario {
    static final int PARTITIONS = 4;
    /** Records for each partition, the first time and the second. */
    static final int BATCH = 10;
    /** Where the members commit: in the middle of the second batch. */
    static final int MIDDLE = 15;
    /** For anything that is waited for. */
    static final Duration PATIENCE = Duration.ofSeconds(150);

    static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in));

    final String bootstrap;
    final String topic;
    final String group;
    /** Of the group: classic, consumer (KIP-848), or share (KIP-932). */
    final String protocol;

    Scenario(String[] args) {
        bootstrap = args[0];
        topic = args[1];
        group = args[2];
        protocol = args.length > 3 ? args[3] : "classic";
    }

    public static void main(String[] args) throws Exception {
        Scenario scenario = new Scenario(args);
        if (scenario.protocol.equals("share")) {
            new ShareScenario(scenario).play();
        } else {
            scenario.play();
        }
    }

    void play() throws Exception {
        tell("produce", "\"offsets\": " + produce(0));

        Member first = new Member();
        until("all records", () -> first.poll() >= BATCH * PARTITIONS);
        first.consumer.commitSync();
        tell("consume", "\"records\": " + first.take());

        Member second = new Member();
        until("both have partitions", () -> {
            first.poll();
            second.poll();
            return shared(first.partitions(), second.partitions());
        });
        tell("rebalance", "\"members\": " + List.of(first.partitions(), second.partitions()));
        produce(BATCH);
        until("the second batch", () -> first.poll() + second.poll() >= BATCH * PARTITIONS);
        tell("share", "\"records\": " + List.of(first.take(), second.take()));
        first.commit(MIDDLE);
        second.commit(MIDDLE);
        tell("commit", "\"committed\": {\"0\": 15, \"1\": 15, \"2\": 15, \"3\": 15}");
        first.consumer.close();
        second.consumer.close();
        tell("leave", "\"by\": \"close\"");

        Member again = new Member();
        until("what is left", () -> again.poll() >= (2 * BATCH - MIDDLE) * PARTITIONS);
        again.consumer.commitSync();
        again.consumer.close();
        tell("resume", "\"records\": " + again.take());

        if (protocol.equals("consumer")) {
            playExpression();
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.deleteConsumerGroupOffsets(group, Set.of(new TopicPartition(topic, 0))).all().get();
            tell("delete_offsets", "\"partition\": 0");
            admin.deleteConsumerGroups(List.of(group)).all().get();
            tell("delete_group", "\"by\": \"deleteConsumerGroups\"");
        }
        if (protocol.equals("consumer")) {
            playStatic();
        }
    }

    /** A member subscribes by a regular expression that matches the topic and no other. */
    void playExpression() throws Exception {
        produce(2 * BATCH);
        Member member = new Member(group, null);
        member.consumer.subscribe(new SubscriptionPattern("^" + topic.substring(0, topic.length() - 2) + ".*"));
        until("the third batch", () -> member.poll() >= BATCH * PARTITIONS);
        member.consumer.commitSync();
        tell("expression", "\"records\": " + member.take());
        member.consumer.close();
    }

    /** One of two members has a name, goes and comes back. */
    void playStatic() throws Exception {
        Member named = new Member(group + "-static", "named");
        Member other = new Member(group + "-static", null);
        named.consumer.subscribe(List.of(topic));
        other.consumer.subscribe(List.of(topic));
        until("both have partitions", () -> {
            named.poll();
            other.poll();
            return shared(named.partitions(), other.partitions());
        });
        List<List<Integer>> parts = List.of(named.partitions(), other.partitions());
        named.consumer.close();
        tell("static", "\"members\": " + parts);

        Member again = new Member(group + "-static", "named");
        again.consumer.subscribe(List.of(topic));
        until("it has its partitions again", () -> {
            again.poll();
            other.poll();
            return List.of(again.partitions(), other.partitions()).equals(parts);
        });
        tell("return", "\"members\": " + parts);
        again.consumer.close();
        other.consumer.close();
    }

    /** A batch to each partition, from this number on; gives the offsets as JSON. */
    String produce(int from) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "acks", "all");
        Map<String, List<Long>> offsets = new TreeMap<>();
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int number = from; number < from + BATCH; number++) {
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    sent.add(producer.send(new ProducerRecord<>(topic, partition, null, partition + "-" + number)));
                }
            }
            for (Future<RecordMetadata> one : sent) {
                RecordMetadata placed = one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                offsets.computeIfAbsent("\"" + placed.partition() + "\"", key -> new ArrayList<>()).add(placed.offset());
            }
        }
        return offsets.toString().replace('=', ':');
    }

    class Member {
        final KafkaConsumer<String, String> consumer;
        private final List<String> rows = new ArrayList<>();

        Member() {
            this(group, null);
            consumer.subscribe(List.of(topic));
        }

        /** One that does not subscribe yet; the instance may be null. */
        Member(String group, String instance) {
            Map<String, Object> config = new HashMap<>(Map.of(
                "bootstrap.servers", bootstrap,
                "group.id", group,
                "group.protocol", protocol,
                "enable.auto.commit", false,
                "auto.offset.reset", "earliest",
                "fetch.max.wait.ms", 100));
            if (protocol.equals("classic")) {
                config.put("heartbeat.interval.ms", 200);
            }
            if (instance != null) {
                config.put("group.instance.id", instance);
            }
            consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        }

        /** Polls once; gives how many records there are by now. */
        int poll() {
            for (ConsumerRecord<String, String> one : consumer.poll(Duration.ofMillis(50))) {
                rows.add("[%d, %d, \"%s\"]".formatted(one.partition(), one.offset(), one.value()));
            }
            return rows.size();
        }

        List<String> take() {
            List<String> taken = List.copyOf(rows);
            rows.clear();
            return taken;
        }

        List<Integer> partitions() {
            return consumer.assignment().stream().map(TopicPartition::partition).sorted().toList();
        }

        void commit(long offset) {
            consumer.commitSync(partitions().stream().collect(Collectors.toMap(
                partition -> new TopicPartition(topic, partition), partition -> new OffsetAndMetadata(offset))));
        }
    }

    /** Whether each has partitions and together they have all. */
    static boolean shared(List<Integer> first, List<Integer> second) {
        List<Integer> all = new ArrayList<>(first);
        all.addAll(second);
        all.sort(null);
        return !first.isEmpty() && !second.isEmpty() && all.equals(IntStream.range(0, PARTITIONS).boxed().toList());
    }

    static void until(String what, BooleanSupplier done) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!done.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("not within " + PATIENCE + ": " + what);
            }
        }
    }

    /** Prints a line, and waits until the runner has looked at the broker. */
    static void tell(String step, String seen) throws IOException {
        System.out.println("{\"step\": \"" + step + "\", " + seen + "}");
        if (INPUT.readLine() == null) {
            throw new IllegalStateException("the runner is gone");
        }
    }
}
