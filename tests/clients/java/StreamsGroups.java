import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeStreamsGroupsOptions;
import org.apache.kafka.clients.admin.ListStreamsGroupOffsetsSpec;
import org.apache.kafka.clients.admin.StreamsGroupDescription;
import org.apache.kafka.clients.admin.StreamsGroupMemberAssignment;
import org.apache.kafka.clients.admin.StreamsGroupMemberDescription;
import org.apache.kafka.clients.admin.StreamsGroupSubtopologyDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** What Java's Admin can do with streams groups; each verb names a group. */
final class StreamsGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StreamsGroups() { }

    static JsonNode serve(Admin admin, JsonNode request) throws Exception {
        String group = request.get("group").asText();
        switch (request.get("verb").asText()) {
            case "streams_describe":
                DescribeStreamsGroupsOptions options =
                    new DescribeStreamsGroupsOptions().includeAuthorizedOperations(true).includeTopologyDescription(true);
                return described(admin.describeStreamsGroups(List.of(group), options).describedGroups().get(group).get());
            case "streams_offsets":
                ArrayNode offsets = JSON.createArrayNode();
                admin.listStreamsGroupOffsets(Map.of(group, new ListStreamsGroupOffsetsSpec()))
                    .partitionsToOffsetAndMetadata(group).get().forEach((partition, offset) ->
                        offsets.addArray().add(partition.topic()).add(partition.partition()).add(offset.offset()));
                return offsets;
            case "streams_alter_offsets":
                Map<TopicPartition, OffsetAndMetadata> wanted = new HashMap<>();
                for (JsonNode one : request.get("offsets")) {
                    wanted.put(place(one), new OffsetAndMetadata(one.get(2).asLong()));
                }
                admin.alterStreamsGroupOffsets(group, wanted).all().get();
                return null;
            case "streams_delete_offsets":
                Set<TopicPartition> places = new HashSet<>();
                request.get("partitions").forEach(one -> places.add(place(one)));
                admin.deleteStreamsGroupOffsets(group, places).all().get();
                return null;
            case "streams_delete":
                admin.deleteStreamsGroups(List.of(group)).all().get();
                return null;
            default:
                throw new IllegalArgumentException(request.toString());
        }
    }

    private static TopicPartition place(JsonNode pair) {
        return new TopicPartition(pair.get(0).asText(), pair.get(1).asInt());
    }

    private static JsonNode described(StreamsGroupDescription group) {
        ObjectNode told = JSON.createObjectNode().put("state", group.groupState().toString())
            .put("epochs", group.groupEpoch() + " " + group.targetAssignmentEpoch() + " " + group.topologyEpoch())
            .put("assignor", group.assignorName().orElse(null))
            .put("description", group.topologyDescriptionStatus().name());
        ArrayNode operations = told.putArray("operations");
        new TreeSet<>(group.authorizedOperations()).forEach(one -> operations.add(one.name()));
        ObjectNode subtopologies = told.putObject("subtopologies");
        for (StreamsGroupSubtopologyDescription one : group.subtopologies()) {
            ObjectNode row = subtopologies.putObject(one.subtopologyId());
            row.set("sources", JSON.valueToTree(one.sourceTopics()));
            row.set("sinks", JSON.valueToTree(one.repartitionSinkTopics()));
            row.set("changelogs", topics(one.stateChangelogTopics()));
            row.set("repartitions", topics(one.repartitionSourceTopics()));
        }
        ArrayNode members = told.putArray("members");
        group.members().forEach(member -> members.add(described(member)));
        return told;
    }

    private static JsonNode topics(Map<String, StreamsGroupSubtopologyDescription.TopicInfo> topics) {
        ObjectNode told = JSON.createObjectNode();
        topics.forEach((name, info) -> told.putArray(name).add(info.partitions()).add(info.replicationFactor())
            .add(JSON.<JsonNode>valueToTree(new TreeMap<>(info.topicConfigs()))));
        return told;
    }

    private static JsonNode described(StreamsGroupMemberDescription member) {
        ObjectNode told = JSON.createObjectNode().put("client", member.clientId()).put("host", member.clientHost())
            .put("epochs", member.memberEpoch() + " " + member.topologyEpoch())
            .put("endpoint", member.userEndpoint().map(one -> one.host() + ":" + one.port()).orElse(null))
            .put("classic", member.isClassic());
        told.set("tags", JSON.valueToTree(new TreeMap<>(member.clientTags())));
        told.set("tasks", tasks(member.assignment()));
        told.set("target", tasks(member.targetAssignment()));
        return told;
    }

    private static JsonNode tasks(StreamsGroupMemberAssignment assignment) {
        ArrayNode told = JSON.createArrayNode();
        for (List<StreamsGroupMemberAssignment.TaskIds> kind :
                List.of(assignment.activeTasks(), assignment.standbyTasks(), assignment.warmupTasks())) {
            ObjectNode row = told.addObject();
            kind.forEach(one -> row.set(one.subtopologyId(), JSON.valueToTree(one.partitions())));
        }
        return told;
    }
}
