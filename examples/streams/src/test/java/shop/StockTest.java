package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.kafkastub.KafkaStub;
import io.kafkastub.control.Await;
import io.kafkastub.junit.KafkaStubExtension;
import io.kafkastub.model.JournalQuery;
import io.kafkastub.model.TaskInfo;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class StockTest {
    /** A member is a thread of an instance; Kafka Streams makes its client id. */
    private static final String ONE = "one-StreamThread-1-consumer";
    private static final String TWO = "two-StreamThread-1-consumer";
    private static final List<TaskInfo> BOTH = List.of(new TaskInfo("0", 0), new TaskInfo("1", 0));

    /** Members send a heartbeat every 50 ms, and nobody waits for more of them. */
    @RegisterExtension
    final KafkaStubExtension kafka = KafkaStubExtension.builder()
            .topics("sales:1", "sold:1")
            .config("group.streams.min.heartbeat.interval.ms", 50)
            .config("group.streams.heartbeat.interval.ms", 50)
            .config("group.streams.assignment.interval.ms", 0)
            .config("group.streams.initial.rebalance.delay.ms", 0)
            .build();

    @TempDir
    Path folder;

    private final List<Process> instances = new ArrayList<>();

    @AfterEach
    void stop() throws InterruptedException {
        for (var instance : instances) {
            instance.destroyForcibly().waitFor();
        }
    }

    /** The session of an instance is over after 45 seconds of silence; this waits for none of them. */
    @Test
    void anotherInstanceGoesOnCounting() throws Exception {
        KafkaStub stub = kafka.stub();
        Await soon = stub.await(Duration.ofSeconds(30));
        stub.streamsGroups().configure("stock", Map.of("streams.num.standby.replicas", 1));
        Process one = instance("one");
        soon.streamsGroup("stock").active(Map.of(ONE, BOTH));
        instance("two");
        soon.group("stock").stable(2);
        stub.records().write("sales", "teapot");
        stub.records().write("sales", "teapot");
        soon.topic("sold").records(2);
        soon.group("stock").lag(0); // what is not committed would be counted once more

        one.destroyForcibly().waitFor();
        stub.clock().advanceWithTimers(Duration.ofSeconds(30));
        long seen = stub.journal().page(new JournalQuery().limit(1)).total();
        soon.request(new JournalQuery()
                .api("StreamsGroupHeartbeat")
                .clientId(TWO)
                .since(String.valueOf(seen))); // it is alive: its session begins again
        stub.clock().advanceWithTimers(Duration.ofSeconds(15));
        soon.streamsGroup("stock").active(Map.of(TWO, BOTH));

        stub.records().write("sales", "teapot");
        soon.topic("sold").records(3);
        var sold = stub.records().read("sold").stream().map(record -> record.value().text());
        assertEquals(List.of("1", "2", "3"), sold.toList());
    }

    private Process instance(String id) throws IOException {
        var process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp", System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "shop.Stock", kafka.bootstrapServers(), id, folder.resolve(id).toString())
                .inheritIO()
                .start();
        instances.add(process);
        return process;
    }
}
