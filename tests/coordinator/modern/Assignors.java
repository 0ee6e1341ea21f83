import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.ArrayList;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's own assignors. Standard input has groups: "G assignor same|different", lines "T topic-id partitions",
 * for the assignor simple "I topic-id:partitions;…" with those that may be assigned, and "M member-id instance-id|- topic-ids|- old-assignment|-", then "E", or "E rounds" to have it timed. The answer to a
 * group is "A" and for each member, sorted by id, "member-id assignment" in the order in which Kafka's collections
 * iterate, or "X message" where the assignor refuses, or "N nanoseconds".
 */
public final class Assignors {
    private record Topics(Map<Uuid, Integer> counts) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topicId) {
            return counts.getOrDefault(topicId, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topicId, int partition) {
            return Set.of("rack" + partition % 3);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        PartitionAssignor assignor = null;
        Optional<Map<Uuid, Set<Integer>>> assignable = Optional.empty();
        SubscriptionType type = null;
        Map<Uuid, Integer> counts = null;
        Map<String, MemberSubscriptionAndAssignmentImpl> members = null;
        Map<Uuid, Map<Integer, String>> owners = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            switch (parts[0]) {
                case "G" -> {
                    assignor = switch (parts[1]) {
                        case "uniform" -> new UniformAssignor();
                        case "range" -> new RangeAssignor();
                        default -> new SimpleAssignor();
                    };
                    assignable = Optional.empty();
                    type = parts[2].equals("same") ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
                    counts = new HashMap<>();
                    members = new HashMap<>();
                    owners = new HashMap<>();
                }
                case "T" -> counts.put(Uuid.fromString(parts[1]), Integer.parseInt(parts[2]));
                case "I" -> assignable = Optional.of(assignment(parts[1]));
                case "M" -> {
                    Set<Uuid> topics = new LinkedHashSet<>();
                    if (!parts[3].equals("-")) for (String id : parts[3].split(",")) topics.add(Uuid.fromString(id));
                    Map<Uuid, Set<Integer>> old = assignment(parts[4]);
                    for (Map.Entry<Uuid, Set<Integer>> one : old.entrySet())
                        for (int partition : one.getValue())
                            owners.computeIfAbsent(one.getKey(), id -> new HashMap<>()).put(partition, parts[1]);
                    Optional<String> instance = parts[2].equals("-") ? Optional.empty() : Optional.of(parts[2]);
                    members.put(parts[1], new MemberSubscriptionAndAssignmentImpl(
                        Optional.of("rack1"), instance, topics, new Assignment(old)));
                }
                default -> {
                    GroupSpecImpl spec = assignable.isEmpty()
                        ? new GroupSpecImpl(members, type, owners)
                        : new GroupSpecImpl(members, type, owners, assignable);
                    Topics topics = new Topics(counts);
                    try {
                        GroupAssignment found = assignor.assign(spec, topics);
                        if (parts.length > 1) {
                            int rounds = Integer.parseInt(parts[1]);
                            long start = System.nanoTime();
                            for (int i = 0; i < rounds; i++) assignor.assign(spec, topics);
                            out.append("N ").append((System.nanoTime() - start) / rounds).append('\n');
                            break;
                        }
                        out.append("A\n");
                        for (Map.Entry<String, MemberAssignment> one : new TreeMap<>(found.members()).entrySet())
                            out.append(one.getKey()).append(' ').append(text(one.getValue().partitions())).append('\n');
                    } catch (PartitionAssignorException | NoSuchElementException e) {
                        out.append("X ").append(e.getMessage()).append('\n');
                    }
                    System.out.print(out);
                    out.setLength(0);
                }
            }
        }
        System.out.print(out);
    }

    /** As Assignment.fromRecord makes it of a record that has the partitions in this order. */
    private static Map<Uuid, Set<Integer>> assignment(String text) {
        Map<Uuid, Set<Integer>> found = new HashMap<>();
        if (text.equals("-")) return found;
        for (String topic : text.split(";")) {
            String[] parts = topic.split(":");
            List<Integer> partitions = new ArrayList<>();
            if (parts.length > 1) for (String partition : parts[1].split(",")) partitions.add(Integer.parseInt(partition));
            found.put(Uuid.fromString(parts[0]), new HashSet<>(partitions));
        }
        return found;
    }

    private static String text(Map<Uuid, Set<Integer>> partitions) {
        StringJoiner topics = new StringJoiner(";");
        for (Map.Entry<Uuid, Set<Integer>> one : partitions.entrySet()) {
            StringJoiner numbers = new StringJoiner(",");
            for (int partition : one.getValue()) numbers.add(Integer.toString(partition));
            topics.add(one.getKey() + ":" + numbers);
        }
        return topics.length() == 0 ? "-" : topics.toString();
    }
}
