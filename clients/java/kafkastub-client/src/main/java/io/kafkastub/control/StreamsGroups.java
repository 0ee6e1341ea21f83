package io.kafkastub.control;

import io.kafkastub.model.GroupConfigs;
import io.kafkastub.model.SessionEnded;
import io.kafkastub.model.StreamsGroupDetail;
import io.kafkastub.model.StreamsGroupInfo;
import io.kafkastub.model.StreamsGroupList;
import java.util.Map;

/** Groups of Kafka Streams with {@code group.protocol=streams}, KIP-1071 (docs/streams-groups.md). */
public final class StreamsGroups {
    private final Port port;

    StreamsGroups(Port port) {
        this.port = port;
    }

    /** List streams groups, 1,000 at most. */
    public StreamsGroupList list() {
        return port.call(Route.GET_STREAMS_GROUPS).as(StreamsGroupList.class);
    }

    /** So many streams groups at most. */
    public StreamsGroupList list(int limit) {
        return port.call(Route.GET_STREAMS_GROUPS).query("limit", limit).as(StreamsGroupList.class);
    }

    /** A group: what it runs, what it lacks, and its members with their tasks. */
    public StreamsGroupDetail describe(String group) {
        return port.call(Route.GET_STREAMS_GROUPS_GROUP, group).as(StreamsGroupDetail.class);
    }

    /** Configure a group, which need not exist yet: {@code streams.num.standby.replicas}. Null removes one. */
    public GroupConfigs configure(String group, Map<String, ?> configs) {
        return port.call(Route.PUT_STREAMS_GROUPS_GROUP_CONFIGS, group)
                .field("configs", configs)
                .as(GroupConfigs.class);
    }

    /** Let a member request the shutdown of the whole application. */
    public StreamsGroupInfo shutDown(String group, String member) {
        return port.call(Route.POST_STREAMS_GROUPS_GROUP_SHUT_DOWN, group)
                .field("member", member)
                .as(StreamsGroupInfo.class);
    }

    /** End a member's session now; returns the member's id. */
    public String endSession(String group, String member) {
        return port.call(Route.POST_STREAMS_GROUPS_GROUP_END_SESSION, group)
                .field("member", member)
                .as(SessionEnded.class)
                .memberId();
    }
}
