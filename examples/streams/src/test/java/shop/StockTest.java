package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class StockTest {
    /** A member is a thread of an instance; Kafka Streams makes its client id. */
    private static final String ONE = "one-StreamThread-1-consumer";
    private static final String TWO = "two-StreamThread-1-consumer";

    @TempDir
    Path folder;

    private final List<Process> instances = new ArrayList<>();
    private KafkaStub kafka;

    @BeforeEach
    void start() throws IOException {
        kafka = new KafkaStub("sales:1", "sold:1");
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (var instance : instances) {
            instance.destroyForcibly().waitFor();
        }
        kafka.close();
    }

    /** The session of an instance is over after 45 seconds of silence; this waits for none of them. */
    @Test
    void anotherInstanceGoesOnCounting() throws Exception {
        kafka.keepStandbys("stock", 1);
        Process one = instance("one");
        kafka.awaitTasks("stock", Map.of(ONE, List.of("0_0", "1_0")));
        instance("two");
        kafka.awaitMembers("stock", 2);
        sell("teapot", "teapot");
        kafka.awaitRecords("sold", 2);
        kafka.awaitDone("stock", "sales"); // what is not committed would be counted once more
        kafka.awaitDone("stock", "stock-articles-repartition");

        one.destroyForcibly().waitFor();
        kafka.advance(Duration.ofSeconds(30));
        kafka.awaitHeartbeat(TWO); // it is alive: its session begins anew
        kafka.advance(Duration.ofSeconds(15));
        kafka.awaitTasks("stock", Map.of(TWO, List.of("0_0", "1_0")));

        sell("teapot");
        kafka.awaitRecords("sold", 3);
        assertEquals(List.of("1", "2", "3"), sold());
    }

    private Process instance(String id) throws IOException {
        var process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "shop.Stock", kafka.bootstrapServers, id, folder.resolve(id).toString())
                .inheritIO()
                .start();
        instances.add(process);
        return process;
    }

    private void sell(String... articles) {
        var settings = Map.<String, Object>of("bootstrap.servers", kafka.bootstrapServers);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            for (String article : articles) {
                producer.send(new ProducerRecord<>("sales", article));
            }
        }
    }

    private List<String> sold() {
        var settings = Map.<String, Object>of("bootstrap.servers", kafka.bootstrapServers, "auto.offset.reset", "earliest");
        var values = new ArrayList<String>();
        try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(new TopicPartition("sold", 0)));
            while (values.size() < 3) {
                consumer.poll(Duration.ofSeconds(10)).forEach(record -> values.add(record.value()));
            }
        }
        return values;
    }
}
