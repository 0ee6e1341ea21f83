package io.kafkastub.control;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kafkastub.Clients;
import io.kafkastub.KafkaStub;
import io.kafkastub.model.AclFilter;
import io.kafkastub.model.AclOperation;
import io.kafkastub.model.AclResourceType;
import io.kafkastub.model.AvroQuery;
import io.kafkastub.model.ChaosAct;
import io.kafkastub.model.ChaosPlan;
import io.kafkastub.model.FaultRule;
import io.kafkastub.model.ForecastQuery;
import io.kafkastub.model.GroupPartitionsQuery;
import io.kafkastub.model.GroupSort;
import io.kafkastub.model.GroupsQuery;
import io.kafkastub.model.JournalQuery;
import io.kafkastub.model.NewAcl;
import io.kafkastub.model.NewRecord;
import io.kafkastub.model.NewTopic;
import io.kafkastub.model.QuotaChange;
import io.kafkastub.model.RecordPart;
import io.kafkastub.model.RecordsQuery;
import io.kafkastub.model.SearchQuery;
import io.kafkastub.model.TopicsQuery;
import io.kafkastub.model.TransactionsQuery;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each part of the control port does what it says, with Kafka's own clients where they see it. */
@Timeout(60)
class ControlTest {
    private static final TopicPartition ORDERS = new TopicPartition("orders", 0);

    private KafkaStub stub;

    @BeforeEach
    void start() {
        stub = KafkaStub.builder().topics("orders:2").nodes(2).start();
    }

    @AfterEach
    void stop() {
        stub.close();
    }

    private void commit(String client, long offset) {
        try (var consumer = Clients.consumer(stub, client)) {
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(offset)));
        }
    }

    @Test
    void clock() {
        stub.clock().set(Instant.parse("2030-01-01T00:00:00Z"));
        stub.clock().freeze();
        assertTrue(stub.clock().state().frozen());
        Instant before = stub.clock().now();
        commit("shop", 5);
        var due = stub.clock()
                .forecast(new ForecastQuery().within("7d").group("shipping"))
                .due();
        assertEquals(before.plus(Duration.ofDays(7)), due.get(0).at());
        assertEquals(due, stub.clock().forecast().due());
        stub.clock().advance(Duration.ofDays(7).minusMillis(1));
        assertEquals(OptionalLong.of(5), stub.groups().committed("shipping", "orders", 0));
        stub.clock().advance(Duration.ofMillis(1));
        assertEquals(OptionalLong.empty(), stub.groups().committed("shipping", "orders", 0));
        assertEquals(
                before.plus(Duration.ofDays(8)),
                stub.clock().advanceWithTimers(Duration.ofDays(1)).now());
        assertFalse(stub.clock().unfreeze().frozen());
    }

    @Test
    void faultsAndHolds() throws Exception {
        try (Fault fault = stub.faults()
                .add(rule -> rule.api("OffsetCommit").error("NOT_COORDINATOR").times(1))) {
            commit("shop", 5);
            assertEquals(1, fault.awaitHits(1).hits());
            assertEquals("NOT_COORDINATOR", fault.state().rule().get("error"));
        }
        try (Fault door = stub.faults()
                .add(new FaultRule()
                        .api("OffsetCommit", "OffsetDelete")
                        .hold("before")
                        .name("door"))) {
            var slow = CompletableFuture.runAsync(() -> commit("slow", 7));
            door.awaitHeld(1);
            assertEquals("slow", stub.holds().requests().get(0).clientId());
            assertEquals("OffsetCommit", stub.faults().get("door").held().get(0).api());
            assertEquals(0, door.releaseConnection(1_000_000));
            assertEquals(1, door.release(1));
            slow.get(30, TimeUnit.SECONDS);
            assertEquals(0, door.release());
            assertEquals(1, door.hits());
        }
        assertEquals(List.of(), stub.faults().list());
        stub.faults().add(rule -> rule.api("Fetch").delay(Duration.ofMillis(5)));
        assertEquals(1, stub.faults().clear());
        var refused = assertThrows(RefusedException.class, () -> stub.faults().add(rule -> rule.api("Nothing")));
        assertEquals(400, refused.status());
    }

    @Test
    void topicsAndRecords() {
        var created = stub.topics().create(new NewTopic("audit").partitions(3).configs(Map.of("retention.ms", "1000")));
        assertEquals("1000", created.configs().get("retention.ms"));
        stub.topics().create("payments", 1);
        assertEquals(1, stub.topics().list(new TopicsQuery().search("pay")).total());
        assertEquals(3, stub.topics().list().total());
        assertEquals(2, stub.topics().describe("audit", 1, 10).partitionList().size());
        assertEquals("audit", stub.topics().delete("audit").name());
        var invalid = assertThrows(RefusedException.class, () -> stub.topics().create("none", 0));
        assertEquals("INVALID_PARTITIONS", invalid.code());

        byte[] bytes = {(byte) 0xff, 0};
        stub.records().write("payments", "free");
        stub.records().write("payments", "7", "paid");
        stub.records()
                .write(
                        "payments",
                        new NewRecord().key("8").value(bytes).header("by", "me").partition(0));
        var records = stub.records().read("payments");
        assertEquals("free", records.get(0).value().text());
        assertEquals("7", records.get(1).key().text());
        assertArrayEquals(bytes, records.get(2).value().bytes());
        assertEquals("me", records.get(2).headers().get(0).value().text());
        assertArrayEquals(bytes, stub.records().bytes("payments", 0, 2, RecordPart.VALUE));
        stub.topics().create("refunds", 1);
        stub.records().write("refunds", new NewRecord().keyJson(7).valueJson(Map.of("id", List.of(7, "a"))));
        assertEquals(
                "{\"id\":[7,\"a\"]}",
                stub.records().read("refunds").get(0).value().text().replace(" ", ""));
        var page = stub.records().read("payments", new RecordsQuery().offset(1).limit(1));
        assertEquals(List.of(1L, 2L, 3L), List.of(page.records().get(0).offset(), page.next(), page.end()));
        assertEquals(
                1,
                stub.records()
                        .search("payments", new SearchQuery("paid"))
                        .records()
                        .size());
        Instant time = records.get(0).timestamp();
        assertEquals(0, stub.records().offsetAt("payments", 0, time).offset());
        var avro = stub.records().avro("payments", new AvroQuery("\"bytes\"").limit(1));
        assertEquals(0, avro.get(0).offset());
    }

    @Test
    void groups() {
        commit("shop", 5);
        assertEquals(1, stub.groups().list().total());
        var listed = stub.groups()
                .list(new GroupsQuery().state("Empty").details(true).sort(GroupSort.NAME));
        assertEquals("shipping", listed.groups().get(0).group());
        assertEquals(5, stub.groups().describe("shipping").offsetList().get(0).offset());
        assertEquals(1, stub.groups().describe("shipping", 1).offsetList().size());
        var partitions = stub.groups().partitions("shipping", new GroupPartitionsQuery().topic("orders"));
        assertEquals(5L, partitions.partitions().get(0).offset());
        assertFalse(stub.groups().findings("shipping").isEmpty());
        assertEquals(OptionalLong.empty(), stub.groups().committed("nobody", "orders", 0));
        assertEquals(0, stub.groups().expire().expiredOffsets());
        var member = assertThrows(RefusedException.class, () -> stub.groups().endSession("shipping", "nobody"));
        assertTrue(member.status() >= 400);
        assertThrows(RefusedException.class, () -> stub.groups().holdRevocation("shipping", "nobody"));
        assertThrows(RefusedException.class, () -> stub.groups().releaseRevocation("shipping", "nobody"));
        assertThrows(RefusedException.class, () -> stub.groups().setTarget("shipping", Map.of()));
        assertEquals("shipping", stub.groups().delete("shipping").group());
    }

    @Test
    void membersOfAGroup() {
        try (var consumer = Clients.consumer(stub, "one")) {
            consumer.subscribe(List.of("orders"));
            var joined = CompletableFuture.runAsync(
                    () -> stub.await().group("shipping").stable(1));
            while (!joined.isDone()) {
                consumer.poll(Duration.ofMillis(20));
            }
            joined.join();
            String id = stub.groups().describe("shipping").memberList().get(0).memberId();
            assertEquals(id, stub.groups().endSession("shipping", id));
            stub.await().group("shipping").members(0);
        }
    }

    @Test
    void transactions() throws Exception {
        try (var producer = Clients.producer(stub, Map.of("transactional.id", "shop"))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", 0, "7", "two teapots")).get();
            assertEquals("Ongoing", stub.await().transaction("shop").ongoing().state());
            assertEquals(1, stub.transactions().list().total());
            assertEquals(
                    1,
                    stub.transactions()
                            .list(new TransactionsQuery().state("Ongoing"))
                            .total());
            stub.transactions().hold("shop");
            stub.transactions().abort("shop");
            assertEquals(List.of("shop"), stub.holds().markers());
            stub.transactions().release("shop");
            assertEquals(
                    "CompleteAbort", stub.await().transaction("shop").aborted().state());
            assertEquals("shop", stub.transactions().describe("shop").transactionalId());
        }
        assertEquals("aborted", stub.records().read("orders").get(0).transaction());
        var hanging = stub.transactions().hang("orders", 1, "lost");
        assertEquals(List.of(hanging), stub.transactions().hanging());
        stub.transactions().abortHanging("orders", 1, hanging.startOffset());
        assertEquals(List.of(), stub.transactions().hanging());
    }

    @Test
    void journal() throws Exception {
        List<String> followed;
        try (var entries = stub.journal().follow(new JournalQuery().api("OffsetCommit"))) {
            commit("shop", 5);
            followed = entries.limit(1).map(entry -> entry.clientId()).toList();
        }
        assertEquals(List.of("shop"), followed);
        var entry = stub.await().request(new JournalQuery().api("OffsetCommit").group("shipping"));
        assertEquals(List.of("shipping"), entry.groups());
        assertEquals(List.of("orders"), entry.topics());
        assertEquals(List.of(), entry.errors());
        assertEquals("reply", entry.outcome());
        assertEquals(entry.text(), stub.await().request("OffsetCommit").text());
        assertTrue(entry.durationMicros() >= 0 && entry.connection() > 0 && entry.apiVersion() > 0);
        assertEquals(
                entry,
                stub.journal().entries(new JournalQuery().api("OffsetCommit")).get(0));
        assertEquals(
                "OffsetCommit", stub.journal().decode(entry.sequence()).entry().api());
        assertEquals(
                "AA==", stub.journal().decode(entry.sequence(), 10, 1).request().bytes());
        var page = stub.journal()
                .page(new JournalQuery().since(String.valueOf(entry.sequence())).limit(1));
        assertEquals(entry.sequence() + 1, page.next());
        assertTrue(stub.journal().exportJsonLines(new JournalQuery()).contains("\"OffsetCommit\""));
        assertEquals('P', stub.journal().exportParquet(new JournalQuery())[0]);
        stub.await().quiet(Duration.ofMillis(10));
        stub.await().quiet(Duration.ofMillis(10), List.of("Metadata"));
        assertTrue(stub.journal().clear() > 0);
        assertEquals(List.of(), stub.journal().tail(10));
    }

    @Test
    @SuppressWarnings("try") // what is undone does not need its undoing
    void snapshots() {
        stub.records().write("orders", "two teapots");
        stub.snapshots().take("seed");
        stub.records().write("orders", "a cup");
        assertEquals("seed", stub.snapshots().restore("seed").id());
        assertEquals(1, stub.records().read("orders").size());
        byte[] file = stub.snapshots().download("seed");
        assertEquals(1, stub.snapshots().upload("copy", file).records());
        assertEquals(2, stub.snapshots().list().size());
        stub.snapshots().delete("copy");
        assertEquals("seed", stub.snapshots().describe("seed").id());
        var unknown =
                assertThrows(RefusedException.class, () -> stub.snapshots().restore("no such"));
        assertEquals(404, unknown.status());
    }

    @Test
    void chaos() {
        assertEquals(7L, stub.chaos().start(7).seed());
        assertEquals(2, stub.chaos().start(7, 2).level());
        var plan = new ChaosPlan().acts(new ChaosAct("OffsetCommit").error("NOT_COORDINATOR"));
        assertEquals(1, stub.chaos().start(plan).left());
        commit("shop", 5);
        assertEquals(1, stub.chaos().state().acts().size());
        assertFalse(stub.chaos().stop().running());
    }

    @Test
    void quotas() {
        stub.quotas().alter(new QuotaChange(Map.of("producer_byte_rate", 1000.0)).clientId("shop"));
        assertEquals(1000.0, stub.quotas().list().get(0).quotas().get("producer_byte_rate"));
        assertEquals(1, stub.quotas().list(1).size());
    }

    @Test
    void acls() {
        var builder = KafkaStub.builder()
                .config("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        try (KafkaStub guarded = builder.start()) {
            var acls = guarded.acls();
            acls.add(new NewAcl(AclResourceType.TOPIC, "orders", "User:alice", AclOperation.READ));
            assertEquals(1, acls.list().total());
            assertEquals(0, acls.list(new AclFilter().principal("User:bob")).total());
            var access = acls.access("User:alice", AclOperation.READ, AclResourceType.TOPIC, "orders");
            assertTrue(access.allowed());
            assertEquals(1, access.concerning().size());
            assertEquals(1, acls.remove(new AclFilter().resourceName("orders")));
        }
        assertEquals(
                "SECURITY_DISABLED",
                assertThrows(RefusedException.class, () -> stub.acls().remove(new AclFilter()))
                        .code());
    }

    @Test
    void nodes() {
        assertEquals(3, stub.nodes().add("rack").node());
        assertEquals(4, stub.nodes().add().node());
        stub.nodes().moveLeader("orders", 0, 2);
        stub.nodes().moveGroup("shipping", 2);
        assertEquals(2, stub.nodes().moveTransactionalId("shop", 2).node());
        assertFalse(stub.nodes().stop(1).running());
        assertTrue(stub.nodes().start(1).running());
        assertEquals(2, stub.nodes().describe(2).node());
        assertEquals(4, stub.nodes().list().nodes().size());
        var advertised = stub.nodes().advertise(2, "PLAINTEXT://127.0.0.1:2");
        assertEquals(advertised, stub.nodes().advertised());
        assertEquals("127.0.0.1:2", advertised.nodes().get("2").get("PLAINTEXT"));
        try (KafkaStub single = KafkaStub.start()) {
            assertEquals("127.0.0.1:1", single.nodes().advertise("127.0.0.1:1").bootstrapServers());
        }
    }

    @Test
    void configsAndTheBrokerItself() throws Exception {
        assertEquals("0", stub.configs().all().set().get("group.initial.rebalance.delay.ms"));
        assertFalse(stub.configs().ofBroker().isEmpty());
        assertFalse(stub.configs().ofTopic("orders").isEmpty());
        assertEquals("healthy", stub.health("orders").status());
        var missing = assertThrows(RefusedException.class, () -> stub.health("none"));
        assertEquals(503, missing.status());
        assertEquals(1, stub.summary().topics());
        assertTrue(stub.metrics().contains("kafkastub_topics"));
        assertTrue(stub.protocol().apis().stream().anyMatch(api -> api.name().equals("OffsetCommit")));
        assertTrue(stub.index().requests().size() > 50);
        try (Stream<List<String>> events = stub.events("topics", "clock")) {
            stub.clock().freeze();
            assertTrue(Set.of("topics", "clock")
                    .containsAll(events.limit(1).toList().get(0)));
        }
        assertEquals(List.of("orders"), stub.reset().topics());
    }

    @Test
    void guarantees() {
        stub.records().write("orders", new NewRecord().partition(0).value("two teapots"));
        stub.assertGuarantees();
        try (var consumer = Clients.consumer(stub, "one")) {
            consumer.subscribe(List.of("orders"));
            Clients.values(consumer, 1);
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(1)));
            consumer.commitSync(Map.of(ORDERS, new OffsetAndMetadata(0)));
        }
        assertFalse(stub.check().ok());
        assertTrue(stub.check(List.of("commit_went_back"), List.of()).findings().size() == 1);
        assertTrue(stub.check(List.of("commit_went_back"), List.of("commit_went_back"))
                .ok());
        var failed = assertThrows(AssertionError.class, stub::assertGuarantees);
        assertTrue(failed.getMessage().contains("commit_went_back in orders-0 by group shipping"), failed.getMessage());
    }

    @Test
    void shareAndStreamsGroups() {
        stub.shareGroups().configure("workers", Map.of("share.record.lock.duration.ms", 15000));
        assertEquals(0, stub.shareGroups().list().total());
        assertEquals(0, stub.shareGroups().list(1).total());
        assertEquals(404, refusal(() -> stub.shareGroups().describe("workers")));
        assertEquals(404, refusal(() -> stub.shareGroups().describe("workers", 1)));
        assertEquals(404, refusal(() -> stub.shareGroups().holdAcknowledgements("workers")));
        assertEquals(404, refusal(() -> stub.shareGroups().releaseAcknowledgements("workers")));
        assertEquals(404, refusal(() -> stub.shareGroups().endSession("workers", "one")));
        assertEquals(
                "2",
                stub.streamsGroups()
                        .configure("app", Map.of("streams.num.standby.replicas", 2))
                        .configs()
                        .get("streams.num.standby.replicas"));
        assertEquals(0, stub.streamsGroups().list().total());
        assertEquals(0, stub.streamsGroups().list(1).total());
        assertEquals(404, refusal(() -> stub.streamsGroups().describe("app")));
        assertEquals(404, refusal(() -> stub.streamsGroups().shutDown("app", "one")));
        assertEquals(404, refusal(() -> stub.streamsGroups().endSession("app", "one")));
    }

    private static int refusal(Runnable call) {
        return assertThrows(RefusedException.class, call::run).status();
    }

    @Test
    void anotherControlPortIsReachedByItsUrl() {
        Control control = Control.at(stub.controlUrl() + "/");
        assertEquals(stub.clock().freeze().now(), control.clock().now());
        assertEquals(401, refusal(() -> Control.at(stub.controlUrl()).clock().freeze()));
    }
}
