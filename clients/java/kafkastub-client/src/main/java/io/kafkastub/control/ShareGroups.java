package io.kafkastub.control;

import io.kafkastub.model.GroupConfigs;
import io.kafkastub.model.SessionEnded;
import io.kafkastub.model.ShareGroupDetail;
import io.kafkastub.model.ShareGroupInfo;
import io.kafkastub.model.ShareGroupList;
import java.util.Map;

/** Share groups, KIP-932 (docs/share-groups.md). */
public final class ShareGroups {
    private final Port port;

    ShareGroups(Port port) {
        this.port = port;
    }

    /** List share groups, 1,000 at most. */
    public ShareGroupList list() {
        return port.call(Route.GET_SHARE_GROUPS).as(ShareGroupList.class);
    }

    /** So many share groups at most. */
    public ShareGroupList list(int limit) {
        return port.call(Route.GET_SHARE_GROUPS).query("limit", limit).as(ShareGroupList.class);
    }

    /** A share group with its members, and its records: who has them, how often they were delivered. */
    public ShareGroupDetail describe(String group) {
        return port.call(Route.GET_SHARE_GROUPS_GROUP, group).as(ShareGroupDetail.class);
    }

    /** The same, with so many runs of records of each partition at most. */
    public ShareGroupDetail describe(String group, int limit) {
        return port.call(Route.GET_SHARE_GROUPS_GROUP, group)
                .query("limit", limit)
                .as(ShareGroupDetail.class);
    }

    /** Configure a group, which need not exist yet: {@code share.record.lock.duration.ms}. Null removes one. */
    public GroupConfigs configure(String group, Map<String, ?> configs) {
        return port.call(Route.PUT_SHARE_GROUPS_GROUP_CONFIGS, group)
                .field("configs", configs)
                .as(GroupConfigs.class);
    }

    /** Hold what members acknowledge from now on: it has no effect before it is released. */
    public ShareGroupInfo holdAcknowledgements(String group) {
        return port.call(Route.POST_SHARE_GROUPS_GROUP_HOLD_ACKNOWLEDGEMENTS, group)
                .as(ShareGroupInfo.class);
    }

    /** Let the held acknowledgements have their effect, and hold no others. */
    public ShareGroupInfo releaseAcknowledgements(String group) {
        return port.call(Route.POST_SHARE_GROUPS_GROUP_RELEASE_ACKNOWLEDGEMENTS, group)
                .as(ShareGroupInfo.class);
    }

    /** End a member's session now; returns the member's id. */
    public String endSession(String group, String member) {
        return port.call(Route.POST_SHARE_GROUPS_GROUP_END_SESSION, group)
                .field("member", member)
                .as(SessionEnded.class)
                .memberId();
    }
}
