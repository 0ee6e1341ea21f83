package io.kafkastub.control;

import io.kafkastub.model.FoundEntry;
import io.kafkastub.model.GroupCondition;
import io.kafkastub.model.JournalEntry;
import io.kafkastub.model.JournalQuery;
import io.kafkastub.model.PartitionRef;
import io.kafkastub.model.QuietReached;
import io.kafkastub.model.ShareGroupCondition;
import io.kafkastub.model.ShareGroupReached;
import io.kafkastub.model.StreamsGroupCondition;
import io.kafkastub.model.StreamsGroupInfo;
import io.kafkastub.model.TaskInfo;
import io.kafkastub.model.TopicCondition;
import io.kafkastub.model.TopicReached;
import io.kafkastub.model.TransactionInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Waits that the broker answers when it is so: nothing sleeps, and nothing asks again and again.
 *
 * <p>Each method waits at once, and returns the same object, so that several can follow: {@code
 * stub.await().group("shipping").stable(2).lag("orders", 0)}. When the time is over, {@link WaitTimeoutError} says what
 * the broker has seen last.
 */
public final class Await {
    static final Duration USUAL = Duration.ofSeconds(10);

    private final Port port;
    private final Groups groups;
    private final Duration limit;

    Await(Port port, Groups groups, Duration limit) {
        this.port = port;
        this.groups = groups;
        this.limit = limit;
    }

    /** A group of consumers, which need not exist yet. */
    public OfGroup group(String group) {
        return new OfGroup(group);
    }

    /** A share group. */
    public OfShareGroup shareGroup(String group) {
        return new OfShareGroup(group);
    }

    /** A group of Kafka Streams. */
    public OfStreamsGroup streamsGroup(String group) {
        return new OfStreamsGroup(group);
    }

    /** A topic, which need not exist yet. */
    public OfTopic topic(String topic) {
        return new OfTopic(topic);
    }

    /** A transactional id, which need not exist yet. */
    public OfTransaction transaction(String transactionalId) {
        return new OfTransaction(transactionalId);
    }

    /** Wait until a request of that API was answered; one that was answered before counts. */
    public JournalEntry request(String api) {
        return request(new JournalQuery().api(api));
    }

    /** Wait until a request that matches was answered. With {@code since}, only later ones count. */
    public JournalEntry request(JournalQuery query) {
        return port.call(Route.GET_JOURNAL_WAIT)
                .query(query)
                .until(limit, FoundEntry.class)
                .entry();
    }

    /** Wait until nothing was asked for so long, except fetches, heartbeats and metadata. */
    public void quiet(Duration quiet) {
        port.call(Route.GET_JOURNAL_WAIT_QUIET)
                .query("seconds", quiet.toMillis() / 1000.0)
                .until(limit, QuietReached.class);
    }

    /** Wait until nothing was asked for so long, except requests of these APIs. */
    public void quiet(Duration quiet, List<String> ignoring) {
        port.call(Route.GET_JOURNAL_WAIT_QUIET)
                .query("seconds", quiet.toMillis() / 1000.0)
                .query("ignoring", ignoring)
                .until(limit, QuietReached.class);
    }

    /** Waits for a group of consumers. */
    public final class OfGroup {
        private final String group;

        private OfGroup(String group) {
            this.group = group;
        }

        /** Wait until it is Stable: each member has what it is to have. */
        public OfGroup stable() {
            return state("Stable");
        }

        /** Wait until it is Stable, and has so many members. */
        public OfGroup stable(int members) {
            return until(new GroupCondition().state("Stable").members(members));
        }

        /** Wait until it has offsets, and no members. */
        public OfGroup empty() {
            return state("Empty");
        }

        /** Wait until it does not exist. */
        public OfGroup dead() {
            return state("Dead");
        }

        /** Wait until it is in a state, by Kafka's name in any case. */
        public OfGroup state(String state) {
            return until(new GroupCondition().state(state));
        }

        /** Wait until it has so many members. */
        public OfGroup members(int members) {
            return until(new GroupCondition().members(members));
        }

        /** Wait until its lag is at most so many records in each partition of all topics that it has offsets of. */
        public OfGroup lag(long atMost) {
            return until(new GroupCondition().lag(atMost));
        }

        /** Wait until its lag is at most so many records in each partition of a topic. */
        public OfGroup lag(String topic, long atMost) {
            return until(new GroupCondition().topic(topic).lag(atMost));
        }

        /** Wait until all of this is so at the same time. */
        public OfGroup until(GroupCondition condition) {
            groups.await(group, condition, limit);
            return this;
        }

        /** Wait until members have exactly these partitions, by member id, instance id or client id. */
        public OfGroup assigned(Map<String, List<PartitionRef>> assignment) {
            groups.awaitAssigned(group, assignment, limit);
            return this;
        }
    }

    /** Waits for a share group. */
    public final class OfShareGroup {
        private final String group;

        private OfShareGroup(String group) {
            this.group = group;
        }

        /** Wait until members have acquired so many records. */
        public OfShareGroup acquired(int records) {
            port.call(Route.GET_SHARE_GROUPS_GROUP_WAIT, group)
                    .query("acquired", records)
                    .until(limit, ShareGroupReached.class);
            return this;
        }

        /** Wait until so many acknowledgements are held ({@link ShareGroups#holdAcknowledgements}). */
        public OfShareGroup held(int acknowledgements) {
            port.call(Route.GET_SHARE_GROUPS_GROUP_WAIT, group)
                    .query("held", acknowledgements)
                    .until(limit, ShareGroupReached.class);
            return this;
        }

        /** Wait until at most so many records are left in all partitions. */
        public OfShareGroup lag(long atMost) {
            port.call(Route.GET_SHARE_GROUPS_GROUP_WAIT, group)
                    .query("lag", atMost)
                    .until(limit, ShareGroupReached.class);
            return this;
        }

        /** Wait until at most so many records are left in a topic. */
        public OfShareGroup lag(String topic, long atMost) {
            port.call(Route.GET_SHARE_GROUPS_GROUP_WAIT, group)
                    .query("topic", topic)
                    .query("lag", atMost)
                    .until(limit, ShareGroupReached.class);
            return this;
        }

        /** Wait until all of this is so at the same time. */
        public OfShareGroup until(ShareGroupCondition condition) {
            port.call(Route.POST_SHARE_GROUPS_GROUP_WAIT, group)
                    .fields(condition)
                    .until(limit, ShareGroupReached.class);
            return this;
        }
    }

    /** Waits for a group of Kafka Streams. */
    public final class OfStreamsGroup {
        private final String group;

        private OfStreamsGroup(String group) {
            this.group = group;
        }

        /** Wait until each task is worked on. */
        public OfStreamsGroup running() {
            port.call(Route.GET_STREAMS_GROUPS_GROUP_WAIT, group).until(limit, StreamsGroupInfo.class);
            return this;
        }

        /** Wait until each task is worked on, by so many members. */
        public OfStreamsGroup members(int members) {
            port.call(Route.GET_STREAMS_GROUPS_GROUP_WAIT, group)
                    .query("members", members)
                    .until(limit, StreamsGroupInfo.class);
            return this;
        }

        /** Wait until its members are told that it lacks something: {@code MISSING_SOURCE_TOPICS}. */
        public OfStreamsGroup status(String status) {
            port.call(Route.GET_STREAMS_GROUPS_GROUP_WAIT, group)
                    .query("status", status)
                    .until(limit, StreamsGroupInfo.class);
            return this;
        }

        /** Wait until members work on exactly these tasks, by member id, process id or client id. */
        public OfStreamsGroup active(Map<String, List<TaskInfo>> tasks) {
            return until(new StreamsGroupCondition().active(tasks));
        }

        /** Wait until all of this is so at the same time. */
        public OfStreamsGroup until(StreamsGroupCondition condition) {
            port.call(Route.POST_STREAMS_GROUPS_GROUP_WAIT, group)
                    .fields(condition)
                    .until(limit, StreamsGroupInfo.class);
            return this;
        }
    }

    /** Waits for a topic. */
    public final class OfTopic {
        private final String topic;

        private OfTopic(String topic) {
            this.topic = topic;
        }

        /** Wait until it exists. */
        public OfTopic exists() {
            return until(new TopicCondition());
        }

        /** Wait until it has so many partitions. */
        public OfTopic partitions(int partitions) {
            return until(new TopicCondition().partitions(partitions));
        }

        /** Wait until it has so many records, in all partitions. */
        public OfTopic records(int records) {
            return until(new TopicCondition().records(records));
        }

        /** Wait until it has a record with this key. */
        public OfTopic recordWithKey(String key) {
            return until(new TopicCondition().records(1).key(key));
        }

        /** Wait until it has a record whose value contains this text. */
        public OfTopic recordContaining(String text) {
            return until(new TopicCondition().records(1).contains(text));
        }

        /** Wait until all of this is so at the same time. */
        public OfTopic until(TopicCondition condition) {
            port.call(Route.GET_TOPICS_NAME_WAIT, topic).query(condition).until(limit, TopicReached.class);
            return this;
        }
    }

    /** Waits for a transactional id. */
    public final class OfTransaction {
        private final String transactionalId;

        private OfTransaction(String transactionalId) {
            this.transactionalId = transactionalId;
        }

        /** Wait until its transaction is open. */
        public TransactionInfo ongoing() {
            return state("Ongoing");
        }

        /** Wait until its transaction is committed, and every marker written. */
        public TransactionInfo committed() {
            return state("CompleteCommit");
        }

        /** Wait until its transaction is aborted, and every marker written. */
        public TransactionInfo aborted() {
            return state("CompleteAbort");
        }

        /** Wait until it is in a state, by Kafka's name. */
        public TransactionInfo state(String state) {
            return port.call(Route.GET_TRANSACTIONS_TRANSACTIONAL_ID, transactionalId)
                    .query("state", state)
                    .until(limit, TransactionInfo.class);
        }
    }
}
