package io.kafkastub.control;

import io.kafkastub.model.ExpiredOffsets;
import io.kafkastub.model.FindingList;
import io.kafkastub.model.GroupCondition;
import io.kafkastub.model.GroupDetail;
import io.kafkastub.model.GroupFinding;
import io.kafkastub.model.GroupInfo;
import io.kafkastub.model.GroupList;
import io.kafkastub.model.GroupPartition;
import io.kafkastub.model.GroupPartitions;
import io.kafkastub.model.GroupPartitionsQuery;
import io.kafkastub.model.GroupReached;
import io.kafkastub.model.GroupsQuery;
import io.kafkastub.model.PartitionRef;
import io.kafkastub.model.RevocationHold;
import io.kafkastub.model.SessionEnded;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Groups of consumers, classic ones and those of the consumer protocol. */
public final class Groups {
    private static final int NOT_FOUND = 404;
    private static final int MOST = 10_000;

    private final Port port;

    Groups(Port port) {
        this.port = port;
    }

    /** All groups. */
    public GroupList list() {
        return list(new GroupsQuery());
    }

    /** The groups that match. */
    public GroupList list(GroupsQuery query) {
        return port.call(Route.GET_GROUPS).query(query).as(GroupList.class);
    }

    /** A group with its members, and its first 1,000 offsets. */
    public GroupDetail describe(String group) {
        return port.call(Route.GET_GROUPS_GROUP, group).as(GroupDetail.class);
    }

    /** A group with its members, and so many offsets at most. */
    public GroupDetail describe(String group, int limit) {
        return port.call(Route.GET_GROUPS_GROUP, group).query("limit", limit).as(GroupDetail.class);
    }

    /** The offset that a group has committed; empty where it has none, or there is no such group. */
    public OptionalLong committed(String group, String topic, int partition) {
        try {
            return partitions(group, new GroupPartitionsQuery().topic(topic).limit(MOST)).partitions().stream()
                    .filter(one -> one.partition() == partition && one.offset() != null)
                    .mapToLong(GroupPartition::offset)
                    .findFirst();
        } catch (RefusedException refused) {
            if (refused.status() == NOT_FOUND) {
                return OptionalLong.empty();
            }
            throw refused;
        }
    }

    /** Each partition that a group reads or has an offset of: owner, offset, lag, leader, expiry. */
    public GroupPartitions partitions(String group, GroupPartitionsQuery query) {
        return port.call(Route.GET_GROUPS_GROUP_PARTITIONS, group).query(query).as(GroupPartitions.class);
    }

    /** Why members get no records, as far as the broker sees it. */
    public List<GroupFinding> findings(String group) {
        return port.call(Route.GET_GROUPS_GROUP_FINDINGS, group)
                .as(FindingList.class)
                .findings();
    }

    /** Delete a group without members, with its offsets. */
    public GroupInfo delete(String group) {
        return port.call(Route.DELETE_GROUPS_GROUP, group).as(GroupInfo.class);
    }

    /** Let members of a group of the consumer protocol have this in the end, by member id, instance id or client id. */
    public GroupDetail setTarget(String group, Map<String, List<PartitionRef>> target) {
        return port.call(Route.PUT_GROUPS_GROUP_TARGET, group)
                .field("target", target)
                .as(GroupDetail.class);
    }

    /** What a member revokes does not count from now on: others do not get it. */
    public RevocationHold holdRevocation(String group, String member) {
        return port.call(Route.POST_GROUPS_GROUP_HOLD_REVOCATION, group)
                .field("member", member)
                .as(RevocationHold.class);
    }

    /** What a member revokes counts again. */
    public RevocationHold releaseRevocation(String group, String member) {
        return port.call(Route.POST_GROUPS_GROUP_RELEASE_REVOCATION, group)
                .field("member", member)
                .as(RevocationHold.class);
    }

    /** End a member's session now; returns the member's id. */
    public String endSession(String group, String member) {
        return port.call(Route.POST_GROUPS_GROUP_END_SESSION, group)
                .field("member", member)
                .as(SessionEnded.class)
                .memberId();
    }

    /** Delete expired offsets now, without waiting for the next sweep. */
    public ExpiredOffsets expire() {
        return port.call(Route.POST_GROUPS_EXPIRE).as(ExpiredOffsets.class);
    }

    GroupReached await(String group, GroupCondition condition, Duration limit) {
        return port.call(Route.GET_GROUPS_GROUP_WAIT, group).query(condition).until(limit, GroupReached.class);
    }

    GroupReached awaitAssigned(String group, Map<String, List<PartitionRef>> assignment, Duration limit) {
        return port.call(Route.POST_GROUPS_GROUP_WAIT_ASSIGNED, group)
                .field("assignment", assignment)
                .until(limit, GroupReached.class);
    }
}
