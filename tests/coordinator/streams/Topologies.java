import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.apache.kafka.common.message.StreamsGroupDescribeResponseData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData.EndpointToPartitions;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData.TopicPartition;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.generated.StreamsGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTopologyValue;
import org.apache.kafka.coordinator.group.streams.StreamsGroup;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.StreamsTopology;
import org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredSubtopology;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.coordinator.group.streams.topics.EndpointToPartitionsManager;
import org.apache.kafka.coordinator.group.streams.topics.InternalTopicManager;
import org.apache.kafka.timeline.SnapshotRegistry;
import org.slf4j.Logger;
import org.slf4j.helpers.NOPLogger;

/**
 * Kafka's own view of topologies. Lines "topology topics active standby warmup": the record's value in base64, then
 * "name:partitions,…" for the topics that there are, and the tasks of a member as "subtopology:partition;…"; "-" for
 * none of them. Each is answered with lines that end with ".": "R" the required topics, "M" who reads what, then "X"
 * and the error, or "E" what is lacking, "S" subtopologies, "I" topics to create, and behind either "D" the
 * description of the configured topology, "U" that of the other one, and "P" the endpoint, or its error; these as
 * responses in base64.
 */
public final class Topologies {
    private static final short VERSION = 1;

    private record Topic(String name, Uuid id, int partitionCount) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            return List.of();
        }
    }

    private record Image(Map<String, Topic> topics) implements CoordinatorMetadataImage {
        @Override
        public Set<Uuid> topicIds() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<String> topicNames() {
            return topics.keySet();
        }

        @Override
        public Optional<CoordinatorMetadataImage.TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(topics.get(name));
        }

        @Override
        public Optional<CoordinatorMetadataImage.TopicMetadata> topicMetadata(Uuid id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return topics.isEmpty();
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Logger log = NOPLogger.NOP_LOGGER;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            StringBuilder out = new StringBuilder();
            String[] parts = line.split(" ");
            Map<String, Topic> topics = new HashMap<>();
            if (!parts[1].equals("-"))
                for (String one : parts[1].split(",")) {
                    String[] pair = one.split(":");
                    topics.put(pair[0], new Topic(pair[0], Uuid.randomUuid(), Integer.parseInt(pair[1])));
                }
            Image image = new Image(topics);
            try {
                ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(parts[0]));
                StreamsTopology topology = StreamsTopology.fromRecord(
                    new StreamsGroupTopologyValue(new ByteBufferAccessor(bytes), (short) 0));
                out.append("R ").append(String.join(",", topology.requiredTopics())).append('\n').append('M');
                new TreeMap<>(topology.sourceTopicMap()).forEach(
                    (topic, one) -> out.append(' ').append(topic).append('=').append(one.subtopologyId()));
                out.append('\n');
                ConfiguredTopology configured =
                    InternalTopicManager.configureTopics(log, "g", "m", 77, topology, image, Time.SYSTEM);
                show(out, configured);
                out.append("D ").append(described(configured.asStreamsGroupDescribeTopology())).append('\n');
                out.append("U ").append(described(topology.asStreamsGroupDescribeTopology())).append('\n');
                out.append("P ").append(endpoint(configured, image, parts)).append('\n');
            } catch (Throwable e) {
                out.append("X ").append(error(e)).append('\n');
            }
            System.out.print(out.append(".\n"));
        }
    }

    /** As CoordinatorOperationExceptionHelper tells it. */
    private static String error(Throwable e) {
        ApiError error = ApiError.fromThrowable(e);
        return error.error() + " " + (error.error() == Errors.UNKNOWN_SERVER_ERROR ? "-" : error.message());
    }

    private static void show(StringBuilder out, ConfiguredTopology configured) {
        out.append("E ").append(configured.topologyEpoch()).append(' ').append(configured.metadataHash()).append(' ');
        out.append(configured.topicConfigurationException().map(e -> e.status() + " " + e.getMessage()).orElse("-"));
        out.append('\n');
        configured.subtopologies().ifPresent(all -> all.forEach((id, one) -> {
            out.append("S ").append(id).append(' ').append(one.numberOfTasks());
            out.append(' ').append(String.join(",", one.sourceTopics()));
            out.append(' ').append(String.join(",", one.repartitionSinkTopics()));
            out.append(' ').append(internal(one.repartitionSourceTopics()));
            out.append(' ').append(internal(one.stateChangelogTopics())).append('\n');
        }));
        for (Map.Entry<String, CreatableTopic> entry : configured.internalTopicsToBeCreated().entrySet()) {
            CreatableTopic topic = entry.getValue();
            out.append("I ").append(topic.name()).append(' ').append(topic.numPartitions());
            out.append(' ').append(topic.replicationFactor());
            topic.configs().forEach(one -> out.append(' ').append(one.name()).append('=').append(one.value()));
            out.append('\n');
        }
    }

    private static String internal(Map<String, ConfiguredInternalTopic> topics) {
        StringBuilder out = new StringBuilder("[");
        topics.forEach((name, one) -> out.append(name).append(':').append(one.numberOfPartitions()).append(':')
            .append(one.replicationFactor().map(String::valueOf).orElse("-")).append(one.topicConfigs()).append(';'));
        return out.append(']').toString();
    }

    private static String described(StreamsGroupDescribeResponseData.Topology topology) {
        return base64(new StreamsGroupDescribeResponseData().setGroups(List.of(
            new StreamsGroupDescribeResponseData.DescribedGroup().setTopology(topology))));
    }

    private static String endpoint(ConfiguredTopology configured, Image image, String[] parts) {
        Map<String, Map<Integer, Integer>> active = new HashMap<>();
        tasks(parts[2]).forEach((id, some) -> {
            active.put(id, new HashMap<>());
            some.forEach(partition -> active.get(id).put(partition, 1));
        });
        StreamsGroupMember member = StreamsGroupMember.Builder.withDefaults("m")
            .setUserEndpoint(new StreamsGroupMemberMetadataValue.Endpoint().setHost("host").setPort(9000))
            .setAssignedTasks(new TasksTupleWithEpochs(active, tasks(parts[3]), tasks(parts[4])))
            .build();
        StreamsGroup group = new StreamsGroup(new LogContext(), new SnapshotRegistry(new LogContext()), "g");
        group.setConfiguredTopology(configured);
        try {
            EndpointToPartitions found =
                EndpointToPartitionsManager.maybeEndpointToPartitions(member, group, image).get();
            List<TopicPartition> inOrder = new ArrayList<>(found.activePartitions());
            inOrder.sort(Comparator.comparing(TopicPartition::topic).thenComparing(one -> one.partitions().toString()));
            found.setActivePartitions(inOrder);  // Kafka's own order differs from start to start
            return base64(new StreamsGroupHeartbeatResponseData().setPartitionsByUserEndpoint(List.of(found)));
        } catch (RuntimeException e) {
            return error(e);
        }
    }

    private static Map<String, Set<Integer>> tasks(String text) {
        Map<String, Set<Integer>> found = new HashMap<>();
        if (!text.equals("-"))
            for (String one : text.split(";")) {
                String[] pair = one.split(":");
                if (!found.containsKey(pair[0])) found.put(pair[0], new HashSet<>());
                found.get(pair[0]).add(Integer.parseInt(pair[1]));
            }
        return found;
    }

    private static String base64(Message message) {
        ByteBuffer bytes = MessageUtil.toByteBufferAccessor(message, VERSION).buffer();
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return Base64.getEncoder().encodeToString(copy);
    }
}
