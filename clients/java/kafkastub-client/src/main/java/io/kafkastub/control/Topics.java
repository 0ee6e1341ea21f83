package io.kafkastub.control;

import io.kafkastub.model.NewTopic;
import io.kafkastub.model.TopicDetail;
import io.kafkastub.model.TopicInfo;
import io.kafkastub.model.TopicList;
import io.kafkastub.model.TopicsQuery;

/** Topics, as an administrator has them. */
public final class Topics {
    private final Port port;

    Topics(Port port) {
        this.port = port;
    }

    /** Create a topic. */
    public TopicInfo create(String name, int partitions) {
        return create(new NewTopic(name).partitions(partitions));
    }

    /** Create a topic. */
    public TopicInfo create(NewTopic topic) {
        return port.call(Route.POST_TOPICS).fields(topic).as(TopicInfo.class);
    }

    /** All topics, without internal ones. */
    public TopicList list() {
        return list(new TopicsQuery());
    }

    /** The topics that match. */
    public TopicList list(TopicsQuery query) {
        return port.call(Route.GET_TOPICS).query(query).as(TopicList.class);
    }

    /** A topic with its first 1,000 partitions. */
    public TopicDetail describe(String name) {
        return port.call(Route.GET_TOPICS_NAME, name).as(TopicDetail.class);
    }

    /** A topic with so many of its partitions, from the partition {@code offset} on. */
    public TopicDetail describe(String name, int offset, int limit) {
        return port.call(Route.GET_TOPICS_NAME, name)
                .query("offset", offset)
                .query("limit", limit)
                .as(TopicDetail.class);
    }

    /** Delete a topic; returns what it was. */
    public TopicInfo delete(String name) {
        return port.call(Route.DELETE_TOPICS_NAME, name).as(TopicInfo.class);
    }
}
