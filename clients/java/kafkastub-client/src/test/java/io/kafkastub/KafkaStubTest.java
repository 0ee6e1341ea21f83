package io.kafkastub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.model.ChaosAct;
import io.kafkastub.model.ChaosPlan;
import io.kafkastub.model.FaultRule;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class KafkaStubTest {
    @TempDir
    Path folder;

    @Test
    void aRecordArrives() throws Exception {
        try (KafkaStub stub = KafkaStub.start("orders:3", "audit")) {
            try (var producer = Clients.producer(stub, Map.of())) {
                producer.send(new ProducerRecord<>("orders", "7", "two teapots"))
                        .get();
            }
            try (var consumer = Clients.consumer(stub, "one")) {
                consumer.subscribe(List.of("orders"));
                assertEquals(List.of("two teapots"), Clients.values(consumer, 1));
            }
            assertEquals(1, stub.topics().describe("audit").partitions());
        }
    }

    @Test
    void aStubThatIsClosedHasGone() {
        KafkaStub stub = KafkaStub.start();
        String[] address = stub.bootstrapServers().split(":");
        stub.close();
        stub.close();
        assertThrows(IOException.class, () -> connect(address));
        var gone = assertThrows(UncheckedIOException.class, () -> stub.clock().now());
        assertTrue(gone.getMessage().contains("was the stub closed?"), gone.getMessage());
    }

    private static void connect(String[] address) throws IOException {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 1000);
        }
    }

    @Test
    void settingsArriveAtTheBroker() {
        KafkaStub.Builder builder = KafkaStub.builder()
                .topic("orders", 6)
                .config("offsets.retention.minutes", 60)
                .profile("kafka")
                .asVersion("3.9")
                .nodes(3)
                .racks("a", "b")
                .fault(new FaultRule()
                        .api("Fetch")
                        .error("NOT_LEADER_OR_FOLLOWER")
                        .times(1)
                        .name("moved"))
                .journalEntries(10)
                .registry();
        try (KafkaStub stub = builder.start()) {
            assertEquals(6, stub.topics().describe("orders").partitions());
            assertEquals("60", stub.configs().all().set().get("offsets.retention.minutes"));
            assertEquals("kafka", stub.summary().profile());
            assertEquals(3, stub.nodes().list().nodes().size());
            assertEquals("moved", stub.faults().list().get(0).id());
            assertEquals("[]", get(stub.registryUrl() + "/subjects"));
        }
    }

    private static String get(String url) {
        try {
            var request = HttpRequest.newBuilder(URI.create(url)).build();
            return HttpClient.newHttpClient()
                    .send(request, BodyHandlers.ofString())
                    .body()
                    .trim();
        } catch (IOException | InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    @Test
    void whatIsRefusedNamesTheSetting() {
        var refused = assertThrows(
                StubStartException.class, () -> KafkaStub.builder().nodes(0).start());
        assertTrue(refused.getMessage().contains("nodes"), refused.getMessage());
        var config = assertThrows(
                StubStartException.class,
                () -> KafkaStub.builder().config("num.partitions", 0).start());
        assertTrue(config.getMessage().contains("num.partitions"), config.getMessage());
    }

    @Test
    void aPortInUseIsASentence() {
        try (KafkaStub stub = KafkaStub.start()) {
            int port = Integer.parseInt(stub.bootstrapServers().split(":")[1]);
            var refused = assertThrows(
                    StubStartException.class,
                    () -> KafkaStub.builder().port(port).start());
            assertTrue(refused.getMessage().contains(String.valueOf(port)), refused.getMessage());
        }
    }

    @Test
    void aCommandThatIsNoKafkastubSaysWhatItSaid() throws IOException {
        Path other = folder.resolve("other");
        Files.writeString(other, "#!/bin/sh\necho no such thing >&2\nexit 2\n");
        assertTrue(other.toFile().setExecutable(true));
        var refused = assertThrows(
                StubStartException.class,
                () -> KafkaStub.builder().command(other.toString()).start());
        assertEquals(other + " launcher did not start: no such thing", refused.getMessage());
    }

    @Test
    void aTopicWithoutANumberIsRefused() {
        var refused = assertThrows(
                IllegalArgumentException.class, () -> KafkaStub.builder().topics("orders:many"));
        assertEquals("topics: 'orders:many' is neither NAME nor NAME:PARTITIONS", refused.getMessage());
    }

    @Test
    void buildersWithTheSameSettingsAreEqual() {
        assertEquals(
                KafkaStub.builder().topics("a:2").copy(), KafkaStub.builder().topics("a:2"));
        assertNotEquals(KafkaStub.builder().topics("a:2"), KafkaStub.builder().topics("a:3"));
    }

    @Test
    void aSnapshotIsWhereAnotherStubBegins() throws IOException {
        Path file = folder.resolve("seed");
        try (KafkaStub stub = KafkaStub.start("orders")) {
            stub.records().write("orders", "two teapots");
            Files.write(file, stub.snapshots().download(stub.snapshots().take().id()));
        }
        try (KafkaStub stub = KafkaStub.builder().snapshot(file).start()) {
            assertEquals(1, stub.records().read("orders").size());
        }
    }

    @Test
    @SuppressWarnings("try") // it is closed before its end
    void theReportOfAFailureSaysWhatWasAskedAndWhatChaosHasDone() throws Exception {
        Instant began = Instant.now();
        try (KafkaStub stub = KafkaStub.start("orders")) {
            assertEquals("", FailureReport.of(stub, "OrdersTest.fails", began, 0));
            assertEquals("last requests of " + stub + " in T: none", FailureReport.of(stub, "T", began, 50));
            stub.chaos().start(new ChaosPlan().acts(new ChaosAct("Produce").error("NOT_LEADER_OR_FOLLOWER")));
            try (var producer = Clients.producer(stub, Map.of("client.id", "shop"))) {
                producer.send(new ProducerRecord<>("orders", "7", "two teapots"))
                        .get();
            }
            ask(stub, (short) 999);
            String report = FailureReport.of(stub, "OrdersTest.fails", began, 50);
            assertTrue(
                    report.startsWith("why clients of " + stub + " in OrdersTest.fails may wait:\n"
                            + "shop got NOT_LEADER_OR_FOLLOWER in the answer to Produce once"),
                    report);
            assertTrue(report.contains("\nlast requests of " + stub + " in OrdersTest.fails:\n"), report);
            assertTrue(report.contains("shop") && report.contains("NOT_LEADER_OR_FOLLOWER"), report);
            assertTrue(report.contains("\nrequests that kafkastub does not serve of "), report);
            assertTrue(report.contains("\nchaos of "), report);
            String later = FailureReport.of(stub, "T", Instant.now().plusSeconds(60), 50);
            assertTrue(later.startsWith("last requests of " + stub + " in T: none"), later);
            stub.close();
            String gone = FailureReport.of(stub, "T", began, 50);
            assertTrue(gone.contains("was the stub closed?"), gone);
        }
    }

    /** Ask for an API by its key, and wait until the broker has closed the connection. */
    private static void ask(KafkaStub stub, short key) throws IOException {
        String[] address = stub.bootstrapServers().split(":");
        try (var socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            var out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(10);
            out.writeShort(key);
            out.writeShort(0);
            out.writeInt(1);
            out.writeShort(-1);
            out.flush();
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    /** A JVM that is killed cannot end anything: the broker notices by itself. */
    @Test
    void kill9LeavesNoBrokerBehind() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process jvm = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Waiting.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String[] line = jvm.inputReader().readLine().split(" ");
        ProcessHandle broker = ProcessHandle.of(Long.parseLong(line[0])).orElseThrow();
        connect(line[1].split(":"));
        jvm.destroyForcibly().waitFor();
        broker.onExit().get(30, TimeUnit.SECONDS);
        assertFalse(broker.isAlive());
        assertThrows(IOException.class, () -> connect(line[1].split(":")));
    }

    /** The JVM that is killed. */
    static final class Waiting {
        private Waiting() {}

        public static void main(String[] arguments) throws Exception {
            KafkaStub stub = KafkaStub.start();
            long broker =
                    ProcessHandle.current().children().findFirst().orElseThrow().pid();
            System.out.println(broker + " " + stub.bootstrapServers());
            Thread.sleep(Long.MAX_VALUE);
        }
    }
}
