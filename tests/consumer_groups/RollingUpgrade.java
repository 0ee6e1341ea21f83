import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;

/**
 * Three consumers of one group, under load, go one by one from the classic protocol to the new one and back.
 *
 * Arguments: bootstrap servers, a name for topic and group, assignor of the classic protocol, "static" or "dynamic".
 * Prints a line a stage, and at the end how many records were lost, read again after a commit of theirs, and read in all.
 */
public class RollingUpgrade {
    static final int PARTITIONS = 6;
    static final long PATIENCE_MS = 60_000;

    final String servers;
    final String name;
    final String assignor;
    final boolean isStatic;
    final Worker[] workers = new Worker[3];
    final Map<TopicPartition, Set<Long>> read = new HashMap<>();
    final Map<TopicPartition, Long> committed = new HashMap<>();
    int again;
    int refused;

    RollingUpgrade(String servers, String name, String assignor, boolean isStatic) {
        this.servers = servers;
        this.name = name;
        this.assignor = assignor;
        this.isStatic = isStatic;
    }

    /** One consumer in a thread of its own: reads, notes what it has read, commits. */
    class Worker extends Thread {
        final AtomicBoolean goesOn = new AtomicBoolean(true);
        final KafkaConsumer<Integer, Integer> consumer;
        volatile Set<TopicPartition> has = Set.of();
        volatile Exception failure;

        Worker(int number, boolean classic) {
            Properties config = new Properties();
            config.put("bootstrap.servers", servers);
            config.put("group.id", name);
            config.put("client.id", "worker-" + number);
            config.put("enable.auto.commit", "false");
            config.put("auto.offset.reset", "earliest");
            config.put("max.poll.records", "20");
            if (isStatic) config.put("group.instance.id", "instance-" + number);
            config.put("group.protocol", classic ? "classic" : "consumer");
            if (classic) {
                config.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
                config.put("heartbeat.interval.ms", "100");
                config.put("session.timeout.ms", "10000");
            }
            consumer = new KafkaConsumer<>(config, new IntegerDeserializer(), new IntegerDeserializer());
            setDaemon(true);
            start();
        }

        @Override
        public void run() {
            try (consumer) {
                consumer.subscribe(List.of(name));
                while (goesOn.get()) {
                    ConsumerRecords<Integer, Integer> records = consumer.poll(Duration.ofMillis(50));
                    has = Set.copyOf(consumer.assignment());
                    if (records.isEmpty()) continue;
                    Map<TopicPartition, OffsetAndMetadata> upTo = note(records);
                    try {
                        consumer.commitSync(upTo);
                        done(upTo);
                    } catch (CommitFailedException | RebalanceInProgressException e) {
                        synchronized (read) {
                            refused++;
                        }
                    }
                }
            } catch (Exception e) {
                failure = e;
            }
            has = Set.of();
        }

        void end() throws Exception {
            goesOn.set(false);
            join(PATIENCE_MS);
            if (failure != null) throw failure;
        }
    }

    Map<TopicPartition, OffsetAndMetadata> note(ConsumerRecords<Integer, Integer> records) {
        Map<TopicPartition, OffsetAndMetadata> upTo = new HashMap<>();
        synchronized (read) {
            for (ConsumerRecord<Integer, Integer> record : records) {
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                if (record.offset() < committed.getOrDefault(partition, 0L)) again++;
                read.computeIfAbsent(partition, one -> new HashSet<>()).add(record.offset());
                upTo.put(partition, new OffsetAndMetadata(record.offset() + 1));
            }
        }
        return upTo;
    }

    void done(Map<TopicPartition, OffsetAndMetadata> upTo) {
        synchronized (read) {
            upTo.forEach((partition, offset) -> committed.merge(partition, offset.offset(), Math::max));
        }
    }

    int countRead() {
        synchronized (read) {
            return read.values().stream().mapToInt(Collection::size).sum();
        }
    }

    /** Until the group is Stable with three members that read all partitions, each one by one of them. */
    void settled(Admin admin, String stage) throws Exception {
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (System.currentTimeMillis() < deadline) {
            List<TopicPartition> all = new ArrayList<>();
            for (Worker worker : workers) {
                if (worker.failure != null) throw worker.failure;
                all.addAll(worker.has);
            }
            if (all.size() == PARTITIONS && new HashSet<>(all).size() == PARTITIONS) {
                ConsumerGroupDescription group = describe(admin);
                if (group != null && group.groupState().toString().equals("Stable") && group.members().size() == 3) {
                    System.out.println(stage + ": " + group.type());
                    return;
                }
            }
            Thread.sleep(20);
        }
        throw new IllegalStateException(stage + ": not settled; " + describe(admin));
    }

    /** Null where the group went over to the other protocol between the two requests that this takes. */
    ConsumerGroupDescription describe(Admin admin) throws Exception {
        try {
            return admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) return null;
            throw e;
        }
    }

    void roll(Admin admin, boolean classic) throws Exception {
        for (int i = 0; i < workers.length; i++) {
            workers[i].end();
            workers[i] = new Worker(i, classic);
            settled(admin, "worker " + i + " " + (classic ? "classic" : "consumer"));
        }
    }

    void run() throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", servers);
        AtomicBoolean sends = new AtomicBoolean(true);
        int[] sent = new int[1];
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(name, PARTITIONS, (short) 1))).all().get();
            Thread load = new Thread(() -> {
                try (KafkaProducer<Integer, Integer> producer =
                        new KafkaProducer<>(config, new IntegerSerializer(), new IntegerSerializer())) {
                    while (sends.get()) {
                        producer.send(new ProducerRecord<>(name, sent[0] % PARTITIONS, sent[0], sent[0]));
                        sent[0]++;
                        Thread.sleep(1);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            load.setDaemon(true);
            load.start();
            for (int i = 0; i < workers.length; i++) workers[i] = new Worker(i, true);
            settled(admin, "all classic");
            roll(admin, false);
            roll(admin, true);
            sends.set(false);
            load.join();
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (countRead() < sent[0] && System.currentTimeMillis() < deadline) Thread.sleep(20);
            for (Worker worker : workers) worker.end();
        }
        System.out.println("lost " + (sent[0] - countRead()) + ", again " + again);
        System.err.println("sent " + sent[0] + ", commits refused " + refused);
    }

    public static void main(String[] args) throws Exception {
        new RollingUpgrade(args[0], args[1], args[2], args[3].equals("static")).run();
        System.exit(0);
    }
}
