package io.kafkastub.control;

import io.kafkastub.model.AtTime;
import io.kafkastub.model.AvroQuery;
import io.kafkastub.model.AvroRecord;
import io.kafkastub.model.AvroRecords;
import io.kafkastub.model.FoundRecords;
import io.kafkastub.model.NewRecord;
import io.kafkastub.model.RecordPage;
import io.kafkastub.model.RecordPart;
import io.kafkastub.model.RecordsQuery;
import io.kafkastub.model.SearchQuery;
import io.kafkastub.model.TopicDetail;
import io.kafkastub.model.TopicRecord;
import io.kafkastub.model.WrittenRecord;
import io.kafkastub.model.WrittenRecords;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Records, read and written without a client. */
public final class Records {
    private static final int MOST = 1000;

    private final Port port;

    Records(Port port) {
        this.port = port;
    }

    /** Write a record with a value, and no key. */
    public WrittenRecord write(String topic, String value) {
        return write(topic, new NewRecord().value(value)).get(0);
    }

    /** Write a record. The key decides about the partition, as in Kafka's producers. */
    public WrittenRecord write(String topic, String key, String value) {
        return write(topic, new NewRecord().key(key).value(value)).get(0);
    }

    /** Write records, one after the other; returns where they are. */
    public List<WrittenRecord> write(String topic, NewRecord... records) {
        return port.call(Route.POST_TOPICS_NAME_RECORDS, topic)
                .field("records", List.of(records))
                .as(WrittenRecords.class)
                .records();
    }

    /** All records of a topic, partition by partition. */
    public List<TopicRecord> read(String topic) {
        int partitions = port.call(Route.GET_TOPICS_NAME, topic)
                .query("limit", 1)
                .as(TopicDetail.class)
                .partitions();
        var found = new ArrayList<TopicRecord>();
        for (int partition = 0; partition < partitions; partition++) {
            RecordPage page;
            long offset = 0;
            do {
                page = read(
                        topic,
                        new RecordsQuery().partition(partition).offset(offset).limit(MOST));
                found.addAll(page.records());
                offset = page.next();
            } while (offset < page.end() && !page.records().isEmpty());
        }
        return found;
    }

    /** Records of a partition. With {@code untilEnd}, {@link RefusedException} has the status 408 when time is over. */
    public RecordPage read(String topic, RecordsQuery query) {
        return port.call(Route.GET_TOPICS_NAME_RECORDS, topic).query(query).as(RecordPage.class);
    }

    /** Records with a text in their key, value or headers. */
    public FoundRecords search(String topic, SearchQuery query) {
        return port.call(Route.GET_TOPICS_NAME_SEARCH, topic).query(query).as(FoundRecords.class);
    }

    /** Where the records from a time on begin. */
    public AtTime offsetAt(String topic, int partition, Instant time) {
        return port.call(Route.GET_TOPICS_NAME_OFFSET, topic)
                .query("partition", partition)
                .query("time", time)
                .as(AtTime.class);
    }

    /** The bytes of a record's key or value. */
    public byte[] bytes(String topic, int partition, long offset, RecordPart part) {
        return port.call(
                        Route.GET_TOPICS_NAME_PARTITIONS_PARTITION_RECORDS_OFFSET_PART,
                        topic,
                        partition,
                        offset,
                        part.text())
                .bytes();
    }

    /** Keys or values, read with an Avro schema. */
    public List<AvroRecord> avro(String topic, AvroQuery query) {
        return port.call(Route.POST_TOPICS_NAME_AVRO, topic)
                .fields(query)
                .as(AvroRecords.class)
                .records();
    }
}
