// Kafka's own SharePartition, played by lines of text: see scenarios.py, which plays the same on ours.
package kafka.server.share;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.internals.ShareAcquireMode;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.ShareFetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.group.ShareGroupAutoOffsetResetStrategy;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfigProvider;
import org.apache.kafka.server.partition.PartitionListener;
import org.apache.kafka.server.share.PartitionMetadataProvider;
import org.apache.kafka.server.share.acknowledge.ShareAcknowledgementBatch;
import org.apache.kafka.server.share.dlq.ShareGroupDLQManager;
import org.apache.kafka.server.share.dlq.ShareGroupDLQRecordParameter;
import org.apache.kafka.server.share.fetch.InFlightBatch;
import org.apache.kafka.server.share.fetch.InFlightState;
import org.apache.kafka.server.share.fetch.ShareAcquiredRecords;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateResult;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateResult;
import org.apache.kafka.server.share.persister.PartitionFactory;
import org.apache.kafka.server.share.persister.PartitionStateBatchData;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.share.persister.PersisterStateBatch;
import org.apache.kafka.server.share.persister.ReadShareGroupStateParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateResult;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryResult;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.server.storage.log.FetchPartitionData;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;
import org.apache.kafka.storage.internals.log.LogOffsetMetadata;

public class SharePartitions {
    static final TopicIdPartition TP = new TopicIdPartition(new Uuid(1, 2), 0, "t");

    static class TestTime implements Time {
        long now = 0;
        public long milliseconds() { return now; }
        public long hiResClockMs() { return now; }
        public long nanoseconds() { return now * 1000000; }
        public void sleep(long ms) { now += ms; }
        public void waitObject(Object o, Supplier<Boolean> s, long t) { }
    }

    static class Timers implements Timer {
        final TestTime time;
        final List<TimerTaskEntry> entries = new ArrayList<>();
        Timers(TestTime time) { this.time = time; }
        public void add(TimerTask task) { entries.add(new TimerTaskEntry(task, time.now + task.delayMs)); }
        public boolean advanceClock(long ms) { return false; }
        public int size() { return entries.size(); }
        public void close() { }
        void advance(long ms) {
            long until = time.now + ms;
            while (true) {
                entries.removeIf(TimerTaskEntry::cancelled);
                TimerTaskEntry next = null;
                for (TimerTaskEntry entry : entries)
                    if (entry.expirationMs <= until && (next == null || entry.expirationMs < next.expirationMs)) next = entry;
                if (next == null) break;
                entries.remove(next);
                time.now = Math.max(time.now, next.expirationMs);
                next.timerTask.run();
            }
            time.now = until;
        }
    }

    static class Settings extends ShareGroupConfigProvider {
        int lock, limit, locks;
        boolean renew, dlq;
        Settings() { super(null); }
        @Override public int recordLockDurationMsOrDefault(String group, int dflt) { return lock; }
        @Override public int deliveryCountLimitOrDefault(String group, int dflt) { return limit; }
        @Override public int partitionMaxRecordLocksOrDefault(String group, int dflt) { return locks; }
        @Override public boolean isRenewAcknowledgeEnabled(String group) { return renew; }
        @Override public ShareGroupAutoOffsetResetStrategy autoOffsetReset(String group) { return ShareGroupAutoOffsetResetStrategy.EARLIEST; }
        @Override public Optional<String> errorsDLQTopicName(String group) { return dlq ? Optional.of("dlq") : Optional.empty(); }
    }

    static class Metadata implements PartitionMetadataProvider {
        long start;
        public long offsetForEarliestTimestamp(TopicIdPartition tp, int epoch) { return start; }
        public long offsetForLatestTimestamp(TopicIdPartition tp, int epoch) { return start; }
        public long offsetForTimestamp(TopicIdPartition tp, long ts, int epoch) { return start; }
        public LogOffsetMetadata endOffsetMetadata(TopicIdPartition tp, FetchIsolation isolation) { return null; }
        public int leaderEpoch(TopicIdPartition tp) { return 0; }
        public boolean addPartitionListener(TopicIdPartition tp, PartitionListener listener) { return true; }
        public void removePartitionListener(TopicIdPartition tp, PartitionListener listener) { }
    }

    static class State implements Persister {
        ReadShareGroupStateResult read;
        boolean hold = false;
        final List<String> writes = new ArrayList<>();
        final ArrayDeque<CompletableFuture<WriteShareGroupStateResult>> held = new ArrayDeque<>();
        public CompletableFuture<ReadShareGroupStateResult> readState(ReadShareGroupStateParameters p) {
            return CompletableFuture.completedFuture(read);
        }
        public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters p) {
            PartitionStateBatchData data = p.groupTopicPartitionData().topicsData().get(0).partitions().get(0);
            for (PersisterStateBatch b : data.stateBatches())
                for (long offset = b.firstOffset(); offset <= b.lastOffset(); offset++)
                    writes.add(offset + ":" + b.deliveryState() + "x" + b.deliveryCount());
            CompletableFuture<WriteShareGroupStateResult> future = new CompletableFuture<>();
            held.add(future);
            if (!hold) complete(true);
            return future;
        }
        void complete(boolean good) {
            for (int n = held.size(); n > 0; n--) {
                short code = good ? 0 : Errors.FENCED_STATE_EPOCH.code();
                held.poll().complete(new WriteShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(TP.topicId(),
                    List.of(PartitionFactory.newPartitionErrorData(TP.partition(), code, good ? null : "no"))))).build());
            }
        }
        public CompletableFuture<InitializeShareGroupStateResult> initializeState(InitializeShareGroupStateParameters p) { return null; }
        public CompletableFuture<DeleteShareGroupStateResult> deleteState(DeleteShareGroupStateParameters p) { return null; }
        public CompletableFuture<ReadShareGroupStateSummaryResult> readSummary(ReadShareGroupStateSummaryParameters p) { return null; }
        public void stop() { }
    }

    static class Letters implements ShareGroupDLQManager {
        record Letter(CompletableFuture<Void> future) { }
        final ArrayDeque<Letter> letters = new ArrayDeque<>();
        final List<String> sent = new ArrayList<>();
        public CompletableFuture<Void> enqueue(ShareGroupDLQRecordParameter p) {
            for (long offset = p.firstOffset(); offset <= p.lastOffset(); offset++)
                sent.add(offset + "x" + p.deliveryCount().get() + (p.cause().get() == CLIENT_REJECT ? "r" : "c"));
            Letter letter = new Letter(new CompletableFuture<>());
            letters.add(letter);
            return letter.future;
        }
        public void stop() { }
    }

    final TestTime time = new TestTime();
    final Timers timer = new Timers(time);
    final Settings settings = new Settings();
    final Metadata metadata = new Metadata();
    final State state = new State();
    final Letters letters = new Letters();
    SharePartition partition;

    // N lock limit locks renew dlq default start [f-l:sxc,...]
    void begin(String[] w) {
        settings.lock = Integer.parseInt(w[1]);
        settings.limit = Integer.parseInt(w[2]);
        settings.locks = Integer.parseInt(w[3]);
        settings.renew = w[4].equals("1");
        settings.dlq = w[5].equals("1");
        metadata.start = Long.parseLong(w[6]);
        List<PersisterStateBatch> batches = new ArrayList<>();
        if (!w[8].equals("-"))
            for (String one : w[8].split(",")) {
                String[] p = one.split("[-:x]");
                batches.add(new PersisterStateBatch(Long.parseLong(p[0]), Long.parseLong(p[1]), Byte.parseByte(p[2]), Short.parseShort(p[3])));
            }
        state.read = new ReadShareGroupStateResult.Builder().setTopicsData(List.of(new TopicData<>(TP.topicId(),
            List.of(PartitionFactory.newPartitionAllData(0, 3, Long.parseLong(w[7]), (short) 0, null, batches))))).build();
        partition = new SharePartition("g", TP, 0, 2000, 5, 30000, timer, time, state, metadata, key -> { }, settings, null,
            () -> true, letters);
        partition.maybeInitialize();
    }

    // A member mode batch_size max fetch_offset base-last[tPID|aPID],... aborted(PID@first,...)
    String acquire(String[] w) {
        List<MemoryRecords> all = new ArrayList<>();
        int size = 0;
        if (!w[6].equals("-"))
            for (String one : w[6].split(",")) {
                String[] p = one.split("[-ta]");
                long base = Long.parseLong(p[0]);
                int count = (int) (Long.parseLong(p[1]) - base + 1);
                SimpleRecord[] records = new SimpleRecord[count];
                Arrays.fill(records, new SimpleRecord(new byte[] {1}));
                MemoryRecords r;
                if (one.contains("a"))
                    r = MemoryRecords.withEndTransactionMarker(base, 0, -1, Long.parseLong(p[2]), (short) 0,
                        new EndTransactionMarker(ControlRecordType.ABORT, 0));
                else if (one.contains("t"))
                    r = MemoryRecords.withTransactionalRecords(base, Compression.NONE, Long.parseLong(p[2]), (short) 0, 0, -1, records);
                else
                    r = MemoryRecords.withRecords(base, Compression.NONE, records);
                all.add(r);
                size += r.sizeInBytes();
            }
        ByteBuffer buffer = ByteBuffer.allocate(size);
        for (MemoryRecords r : all) buffer.put(r.buffer().duplicate());
        buffer.flip();
        List<FetchResponseData.AbortedTransaction> aborted = new ArrayList<>();
        if (!w[7].equals("-"))
            for (String one : w[7].split(",")) {
                String[] p = one.split("@");
                aborted.add(new FetchResponseData.AbortedTransaction().setProducerId(Long.parseLong(p[0])).setFirstOffset(Long.parseLong(p[1])));
            }
        FetchPartitionData data = new FetchPartitionData(Errors.NONE, 0, 0, MemoryRecords.readableRecords(buffer), Optional.empty(),
            OptionalLong.empty(), Optional.of(aborted), OptionalInt.empty(), false);
        ShareAcquiredRecords acquired = partition.acquire(w[1], w[2].equals("1") ? ShareAcquireMode.RECORD_LIMIT : ShareAcquireMode.BATCH_OPTIMIZED,
            Integer.parseInt(w[3]), Integer.parseInt(w[4]), Long.parseLong(w[5]), data, FetchIsolation.TXN_COMMITTED);
        List<String> shown = new ArrayList<>();
        int count = 0;
        for (ShareFetchResponseData.AcquiredRecords r : acquired.acquiredRecords()) {
            shown.add(r.firstOffset() + "-" + r.lastOffset() + "x" + r.deliveryCount());
            count += r.lastOffset() - r.firstOffset() + 1;
        }
        if (count != acquired.count()) shown.add("count " + acquired.count());
        return String.join(",", shown);
    }

    // K member first-last:types,...
    String acknowledge(String[] w) {
        List<ShareAcknowledgementBatch> batches = new ArrayList<>();
        for (String one : w[2].split(",")) {
            String[] p = one.split("[-:]");
            List<Byte> types = new ArrayList<>();
            for (char c : p[2].toCharArray()) types.add((byte) (c - '0'));
            batches.add(new ShareAcknowledgementBatch(Long.parseLong(p[0]), Long.parseLong(p[1]), types));
        }
        return told(partition.acknowledge(w[1], batches));
    }

    String told(CompletableFuture<Void> future) {
        if (!future.isCompletedExceptionally()) return "ok";
        Throwable t = future.handle((v, e) -> e).join();
        return Errors.forException(t).name() + " " + t.getMessage();
    }

    String play(String[] w) {
        try {
            switch (w[0]) {
                case "N": begin(w); return "";
                case "A": return acquire(w);
                case "K": return acknowledge(w);
                case "R": return told(partition.releaseAcquiredRecords(w[1]));
                case "T": timer.advance(Long.parseLong(w[1])); return "";
                case "L": partition.updateCacheAndOffsets(Long.parseLong(w[1])); return "";
                case "H": state.hold = true; return "";
                case "W": state.hold = false; state.complete(w[1].equals("1")); return "";
                case "D":
                    for (int n = letters.letters.size(); n > 0; n--) letters.letters.poll().future.complete(null);
                    return "";
                default: throw new IllegalStateException(w[0]);
            }
        } catch (Exception e) {
            return "threw " + e;
        }
    }

    String run(InFlightState s) {
        String lock = s.acquisitionLockTimeoutTask() == null ? "" : "!" + s.acquisitionLockTimeoutTask().expirationMs();
        return s.state().id() + "x" + s.deliveryCount() + s.memberId() + lock + (s.hasOngoingStateTransition() ? "~" : "");
    }

    String dump() {
        List<String> shown = new ArrayList<>();
        for (InFlightBatch batch : partition.cachedState().values()) {
            if (batch.offsetState() == null) {
                shown.add("[" + batch.firstOffset() + "-" + batch.lastOffset() + " " + run(new Whole(batch).state()) + "]");
                continue;
            }
            StringBuilder text = new StringBuilder("[");
            String last = null;
            for (Map.Entry<Long, InFlightState> entry : batch.offsetState().entrySet()) {
                String now = run(entry.getValue());
                if (!now.equals(last)) text.append(text.length() > 1 ? " " : "").append(entry.getKey()).append(":").append(now);
                last = now;
            }
            shown.add(text.append(" .." + batch.lastOffset() + "]").toString());
        }
        long next = partition.nextFetchOffset();
        List<String> writes = new ArrayList<>(state.writes), sent = new ArrayList<>(letters.sent);
        state.writes.clear();
        letters.sent.clear();
        Collections.sort(writes);
        Collections.sort(sent);
        return partition.startOffset() + ".." + partition.endOffset() + " done " + partition.deliveryCompleteCount() + " next " + next
            + (partition.canAcquireRecords() ? " can " : " full ") + String.join("", shown) + " wrote " + String.join(",", writes)
            + " sent " + String.join(",", sent);
    }

    // the state of a batch that is one is private there
    record Whole(InFlightBatch batch) {
        InFlightState state() {
            try {
                java.lang.reflect.Field field = InFlightBatch.class.getDeclaredField("batchState");
                field.setAccessible(true);
                return (InFlightState) field.get(batch);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream out = new PrintStream(System.out, false);
        SharePartitions current = null;
        String line;
        while ((line = in.readLine()) != null) {
            String[] words = line.split(" ");
            if (words[0].equals("N")) {
                if (current != null) current.partition.close();
                current = new SharePartitions();
            }
            String answer = current.play(words);
            out.println(answer + " | " + current.dump());
        }
        out.flush();
    }
}
