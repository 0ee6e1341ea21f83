import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;

/** kafka-clients plays the scenario of share groups. */
final class ShareScenario {
    static final int EVERYTHING = Scenario.BATCH * Scenario.PARTITIONS;
    /** How long a member has a record. */
    static final long LOCK_MS = 2000;

    final Scenario scenario;
    int produced = 0;

    ShareScenario(Scenario scenario) {
        this.scenario = scenario;
    }

    void play() throws Exception {
        Scenario.tell("produce", "\"offsets\": " + produce());
        Member first = new Member();
        first.read(EVERYTHING);
        Scenario.tell("accept", "\"records\": " + first.take());

        Member second = new Member();
        first.poll();
        second.poll();
        Scenario.tell("join", "\"by\": \"subscribe\"");
        produce();
        Scenario.until("the second batch", () -> first.settle() + second.settle() >= EVERYTHING);
        Scenario.tell("both", "\"records\": " + List.of(first.take(), second.take()));
        second.consumer.close();

        produce();
        first.read(EVERYTHING, one -> one.offset() % 2 == 1 && count(one) == 1 ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT);
        Scenario.tell("release", "\"records\": " + first.take());
        produce();
        first.read(EVERYTHING, one -> one.offset() % 10 != 5 ? AcknowledgeType.ACCEPT
            : AcknowledgeType.RELEASE, 3);
        Scenario.tell("poison", "\"records\": " + first.take());
        produce();
        first.read(EVERYTHING, one -> one.offset() % 10 == 5 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT);
        Scenario.tell("reject", "\"records\": " + first.take());
        produce();
        first.keep();
        Scenario.tell("renew", "\"records\": " + first.take());
        produce();
        List<String> kept = first.lose();
        List<String> late = List.copyOf(first.errors);
        first.read(EVERYTHING);
        Scenario.tell("expire", "\"kept\": " + kept + ", \"late\": " + late + ", \"records\": " + first.take());

        produce();
        Scenario.until("some records", () -> !first.poll().isEmpty());
        List<String> closed = first.take();
        first.consumer.close();
        Member third = new Member();
        third.read(EVERYTHING);
        Scenario.tell("close", "\"records\": " + List.of(closed, third.take()));
        third.consumer.close();
        Scenario.tell("leave", "\"by\": \"close\"");

        try (Admin admin = Admin.create(Map.of("bootstrap.servers", scenario.bootstrap))) {
            admin.alterShareGroupOffsets(scenario.group, Map.of(new TopicPartition(scenario.topic, 0), 5L)).all().get();
            Scenario.tell("alter_offsets", "\"partition\": 0");
            Member again = new Member();
            again.read(produced - 5);
            Scenario.tell("again", "\"records\": " + again.take());
            again.consumer.close();
            admin.deleteShareGroupOffsets(scenario.group, Set.of(scenario.topic)).all().get();
            Scenario.tell("delete_offsets", "\"by\": \"deleteShareGroupOffsets\"");
            admin.deleteShareGroups(List.of(scenario.group)).all().get();
            Scenario.tell("delete_group", "\"by\": \"deleteShareGroups\"");
        }
    }

    String produce() throws Exception {
        String offsets = scenario.produce(produced);
        produced += Scenario.BATCH;
        return offsets;
    }

    static int count(ConsumerRecord<String, String> one) {
        return one.deliveryCount().orElseThrow();
    }

    class Member {
        final KafkaShareConsumer<String, String> consumer;
        final Set<String> errors = new LinkedHashSet<>();
        private final List<String> rows = new ArrayList<>();
        private final Set<TopicPartitionOffset> done = new HashSet<>();
        private List<ConsumerRecord<String, String>> polled = List.of();

        record TopicPartitionOffset(int partition, long offset) {
        }

        Member() {
            Map<String, Object> config = Map.of(
                "bootstrap.servers", scenario.bootstrap,
                "group.id", scenario.group,
                "share.acknowledgement.mode", "explicit",
                "fetch.max.wait.ms", 100);
            consumer = new KafkaShareConsumer<>(config, new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(List.of(scenario.topic));
        }

        /** Polls once; what has come waits for its acknowledgement. */
        List<ConsumerRecord<String, String>> poll() {
            List<ConsumerRecord<String, String>> found = new ArrayList<>();
            consumer.poll(Duration.ofMillis(50)).forEach(found::add);
            for (ConsumerRecord<String, String> one : found) {
                rows.add("[%d, %d, \"%s\", %d]".formatted(one.partition(), one.offset(), one.value(), count(one)));
            }
            polled = found;
            return found;
        }

        /** Polls once and accepts; gives how many records are done with by now. */
        int settle() {
            poll();
            acknowledge(one -> AcknowledgeType.ACCEPT, 0);
            return done.size();
        }

        void read(int count) {
            read(count, one -> AcknowledgeType.ACCEPT);
        }

        void read(int count, Function<ConsumerRecord<String, String>, AcknowledgeType> judge) {
            read(count, judge, 0);
        }

        /** Until so many records are done with; one that was released `last` times is, too. */
        void read(int count, Function<ConsumerRecord<String, String>, AcknowledgeType> judge, int last) {
            Scenario.until(count + " records", () -> {
                poll();
                acknowledge(judge, last);
                return done.size() >= count;
            });
        }

        private void acknowledge(Function<ConsumerRecord<String, String>, AcknowledgeType> judge, int last) {
            Set<TopicPartitionOffset> finished = new HashSet<>();
            for (ConsumerRecord<String, String> one : polled) {
                AcknowledgeType type = judge.apply(one);
                consumer.acknowledge(one, type);
                if (type != AcknowledgeType.RELEASE || count(one) == last) {
                    finished.add(new TopicPartitionOffset(one.partition(), one.offset()));
                }
            }
            Set<Integer> failed = commit();
            finished.removeIf(one -> failed.contains(one.partition()));
            done.addAll(finished);
        }

        /** Sends the acknowledgements; gives the partitions where they were refused. */
        private Set<Integer> commit() {
            Set<Integer> failed = new HashSet<>();
            for (Map.Entry<TopicIdPartition, Optional<KafkaException>> one : consumer.commitSync().entrySet()) {
                one.getValue().ifPresent(error -> {
                    failed.add(one.getKey().partition());
                    errors.add("\"" + Errors.forException(error) + "\"");
                });
            }
            return failed;
        }

        /** All records of a batch are kept for longer than their locks, by renewing these. */
        void keep() {
            long end = System.nanoTime() + Duration.ofMillis(LOCK_MS * 3 / 2).toNanos();
            Set<String> told = new LinkedHashSet<>();
            Scenario.until("the end of the time", () -> {
                poll();
                told.addAll(rows);
                boolean over = System.nanoTime() > end;
                acknowledge(one -> over ? AcknowledgeType.ACCEPT : AcknowledgeType.RENEW, 0);
                if (!over) {
                    done.clear();
                    pause(LOCK_MS / 4);
                }
                return done.size() >= EVERYTHING;
            });
            rows.clear();
            rows.addAll(told);
        }

        /** Some records are kept without that, and accepted too late; gives them. */
        List<String> lose() {
            Scenario.until("some records", () -> !poll().isEmpty());
            pause(LOCK_MS + 500);
            List<String> kept = List.copyOf(rows);
            rows.clear();
            acknowledge(one -> AcknowledgeType.ACCEPT, 0);
            return kept;
        }

        List<String> take() {
            List<String> taken = List.copyOf(rows);
            rows.clear();
            done.clear();
            return taken;
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
