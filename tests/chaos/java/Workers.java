import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.BiFunction;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Workers that confirm orders, each of which has to be confirmed: a correct one, and some that do one thing otherwise.
 *
 * On standard input a line is "PROTOCOL-WORKER SERVERS": that worker works, as a member of a group by that protocol,
 * until the next line; "stop" is one with none. Each line is answered by one, when the worker before has ended.
 */
public final class Workers {
    private static final Duration SHORTLY = Duration.ofMillis(20);
    private static final Map<String, BiFunction<KafkaConsumer<String, String>, KafkaProducer<String, String>, Correct>>
        WORKERS = Map.of(
            "correct", Correct::new, "commits_first", CommitsFirst::new, "forgets_to_rewind", ForgetsToRewind::new,
            "leaves_out", LeavesOut::new
        );

    private volatile boolean over;

    private Workers() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Workers working = null;
        Thread thread = null;
        for (String line = asked.readLine(); line != null; line = asked.readLine()) {
            if (thread != null) {
                working.over = true;
                thread.join();
                thread = null;
            }
            if (!line.equals("stop")) {
                String[] words = line.split("[- ]", 3);
                Workers next = new Workers();
                thread = new Thread(() -> next.supervise(words[0], words[1], words[2]));
                thread.start();
                working = next;
            }
            answers.println(line);
        }
        Runtime.getRuntime().halt(0);
    }

    /** A worker that fails is started again, with clients of its own. */
    private void supervise(String protocol, String worker, String servers) {
        while (!over) {
            KafkaConsumer<String, String> reading = new KafkaConsumer<>(reading(protocol, servers));
            try (KafkaProducer<String, String> writing = new KafkaProducer<>(writing(servers))) {
                Correct correct = WORKERS.get(worker).apply(reading, writing);
                correct.begin();
                while (!over) {
                    correct.step();
                }
            } catch (Exception failed) {
                System.err.println(failed);
            } finally {
                reading.close(CloseOptions.timeout(Duration.ofSeconds(1)));
            }
        }
    }

    private static Map<String, Object> quick(String servers) {
        return new HashMap<>(Map.of(
            "bootstrap.servers", servers, "retry.backoff.ms", 10, "retry.backoff.max.ms", 50, "reconnect.backoff.ms", 5,
            "reconnect.backoff.max.ms", 50, "request.timeout.ms", 2000, "metadata.max.age.ms", 500,
            "enable.metrics.push", false
        ));
    }

    private static Map<String, Object> reading(String protocol, String servers) {
        Map<String, Object> config = quick(servers);
        config.putAll(Map.of(
            "group.id", "confirming", "group.protocol", protocol, "auto.offset.reset", "earliest",
            "enable.auto.commit", false, "max.poll.records", 10, "fetch.max.wait.ms", 20,
            "key.deserializer", StringDeserializer.class, "value.deserializer", StringDeserializer.class
        ));
        if (protocol.equals("classic")) { // the other one has both from the broker
            config.put("heartbeat.interval.ms", 20);
            config.put("session.timeout.ms", 6000);
        }
        return config;
    }

    /** It is told of what fails at once, and decides for itself what is tried again. */
    private static Map<String, Object> writing(String servers) {
        Map<String, Object> config = quick(servers);
        config.putAll(Map.of(
            "retries", 0, "enable.idempotence", false, "linger.ms", 0, "delivery.timeout.ms", 2000,
            "key.serializer", StringSerializer.class, "value.serializer", StringSerializer.class
        ));
        return config;
    }

    private static TopicPartition partition(ConsumerRecord<?, ?> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    /** Commits when all that it took is confirmed; when anything fails, it goes back to what is committed. */
    private static class Correct implements ConsumerRebalanceListener {
        final KafkaConsumer<String, String> reading;
        final KafkaProducer<String, String> writing;
        /** Not yet confirmed. */
        final Deque<ConsumerRecord<String, String>> taken = new ArrayDeque<>();

        Correct(KafkaConsumer<String, String> reading, KafkaProducer<String, String> writing) {
            this.reading = reading;
            this.writing = writing;
        }

        void begin() {
            reading.subscribe(List.of("orders"), this);
        }

        void step() {
            try {
                take();
                if (!taken.isEmpty()) {
                    confirm(taken.element());
                    taken.remove();
                    if (taken.isEmpty()) {
                        confirmed();
                    }
                }
            } catch (RetriableException failed) {
                rewind();
            } catch (CommitFailedException | RebalanceInProgressException failed) {
                rewind(); // what is not this member's any more is left out, which poll tells it
            }
        }

        /** Asked while it has something, too: so it hears of a rebalance in time. */
        void take() {
            if (taken.isEmpty()) {
                reading.resume(reading.paused());
            } else {
                reading.pause(reading.assignment());
            }
            reading.poll(taken.isEmpty() ? SHORTLY : Duration.ZERO).forEach(taken::add);
        }

        void confirm(ConsumerRecord<String, String> record) {
            try {
                writing.send(new ProducerRecord<>("confirmed", record.value())).get();
            } catch (ExecutionException failed) {
                throw (RuntimeException) failed.getCause();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }

        void confirmed() {
            reading.commitSync();
        }

        void rewind() {
            taken.clear();
            reading.committed(reading.assignment()).forEach((partition, committed) -> {
                if (committed == null) {
                    reading.seekToBeginning(List.of(partition));
                } else {
                    reading.seek(partition, committed);
                }
            });
        }

        /** Whoever has it next begins with what is committed. */
        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            taken.removeIf(record -> revoked.contains(partition(record)));
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
        }
    }

    /** Bug: what is committed and not yet confirmed is lost when it fails. */
    private static final class CommitsFirst extends Correct {
        CommitsFirst(KafkaConsumer<String, String> reading, KafkaProducer<String, String> writing) {
            super(reading, writing);
        }

        @Override
        void take() {
            boolean had = !taken.isEmpty();
            super.take();
            if (!had && !taken.isEmpty()) {
                reading.commitSync();
            }
        }

        @Override
        void confirmed() {
        }
    }

    /** Bug: after a rebalance it goes on behind what it had taken, and what was not confirmed of it is left out. */
    private static final class ForgetsToRewind extends Correct {
        private final Map<TopicPartition, Long> book = new HashMap<>();

        ForgetsToRewind(KafkaConsumer<String, String> reading, KafkaProducer<String, String> writing) {
            super(reading, writing);
        }

        @Override
        void take() {
            super.take();
            taken.forEach(one -> book.merge(partition(one), one.offset() + 1, Math::max));
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
            assigned.stream().filter(book::containsKey).forEach(one -> reading.seek(one, book.get(one)));
        }
    }

    /** Bug: an order whose confirmation fails is left out, though trying again would do. */
    private static final class LeavesOut extends Correct {
        LeavesOut(KafkaConsumer<String, String> reading, KafkaProducer<String, String> writing) {
            super(reading, writing);
        }

        @Override
        void confirm(ConsumerRecord<String, String> record) {
            try {
                super.confirm(record);
            } catch (RetriableException failed) {
                System.err.println("not confirmed: " + record.value());
            }
        }
    }
}
