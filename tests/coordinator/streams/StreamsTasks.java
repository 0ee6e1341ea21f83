import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.api.streams.assignor.TaskAssignorException;
import org.apache.kafka.coordinator.group.generated.StreamsGroupTargetAssignmentMemberKey;
import org.apache.kafka.coordinator.group.streams.CurrentAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.MemberState;
import org.apache.kafka.coordinator.group.streams.MemberTaskOffsets;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.TargetAssignmentBuilder;
import org.apache.kafka.coordinator.group.streams.TasksTuple;
import org.apache.kafka.coordinator.group.streams.TasksTupleWithEpochs;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredInternalTopic;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredSubtopology;
import org.apache.kafka.coordinator.group.streams.topics.ConfiguredTopology;
import org.apache.kafka.coordinator.group.streams.topics.TopicConfigurationException;

/**
 * Kafka's own targets of streams groups, and the steps of their members. Standard input has groups: "G standbys
 * ready|waiting", lines "S subtopology tasks stateful|stateless", "M member process active standby warm-up offsets",
 * "O member active standby" for old targets, then "E", or "E rounds" to have it timed. The answer is "A" and for each
 * member, sorted by id, "member active standby" in the order of Kafka's maps, then "R members" whose records were
 * written, or "X message" where the assignor refuses, or "N nanoseconds".
 *
 * A line "C state epoch previous process has lets-go target-epoch target owned|~ running" is one step of a member, with
 * three words for each of has, lets-go, target, running, and owned. The answer is "C same", "C state epoch previous has
 * lets-go" or "F message".
 *
 * Tasks are "subtopology:0,1;…" or "-"; with epochs or offsets "subtopology:0@7,…", with processes "subtopology:0@a+b".
 */
public final class StreamsTasks {
    private static final ConfiguredInternalTopic STORE =
        new ConfiguredInternalTopic("store-changelog", 1, Optional.empty(), Map.of());

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        String[] group = null;
        TreeMap<String, ConfiguredSubtopology> subtopologies = null;
        Map<String, StreamsGroupMember> members = null;
        Map<String, MemberTaskOffsets> offsets = null;
        Map<String, TasksTuple> old = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            switch (parts[0]) {
                case "G" -> {
                    group = parts;
                    subtopologies = new TreeMap<>();
                    members = new LinkedHashMap<>();
                    offsets = new HashMap<>();
                    old = new HashMap<>();
                }
                case "S" -> subtopologies.put(parts[1], new ConfiguredSubtopology(Integer.parseInt(parts[2]), Set.of(),
                    Map.of(), Set.of(), parts[3].equals("stateful") ? Map.of(STORE.name(), STORE) : Map.of()));
                case "M" -> {
                    // racks and tags are there, and count for nothing
                    members.put(parts[1], StreamsGroupMember.Builder.withDefaults(parts[1]).setProcessId(parts[2])
                        .setRackId("rack" + parts[1].hashCode() % 3).setInstanceId("i" + parts[1])
                        .setClientTags(Map.of("zone", "z" + parts[1].hashCode() % 2, "other", parts[1]))
                        .setAssignedTasks(new TasksTupleWithEpochs(epochs(parts[3]), tasks(parts[4]), tasks(parts[5])))
                        .build());
                    if (!parts[6].equals("-")) offsets.put(parts[1], new MemberTaskOffsets(longs(parts[6]), Map.of()));
                }
                case "O" -> old.put(parts[1], new TasksTuple(tasks(parts[2]), tasks(parts[3]), Map.of()));
                case "E" -> {
                    TargetAssignmentBuilder builder = new TargetAssignmentBuilder("g", 7, new StickyTaskAssignor(),
                        Map.of("num.standby.replicas", group[1], "rack.aware.assignment.tags", "zone,other")).withTime(Time.SYSTEM).withMembers(members)
                        .withTaskOffsets(offsets).withTargetAssignment(old).withTopology(group[2].equals("ready")
                            ? new ConfiguredTopology(0, 0, Optional.of(subtopologies), Map.of(), Optional.empty())
                            : new ConfiguredTopology(0, 0, Optional.empty(), Map.of(), Optional.of(
                                TopicConfigurationException.missingSourceTopics("missing"))));
                    target(builder, parts.length > 1 ? Integer.parseInt(parts[1]) : 0, out);
                }
                default -> step(parts, out);
            }
            if (out.length() > 8192) {
                System.out.print(out);
                out.setLength(0);
            }
        }
        System.out.print(out);
    }

    private static void target(TargetAssignmentBuilder builder, int rounds, StringBuilder out) {
        try {
            TargetAssignmentBuilder.TargetAssignmentResult found = builder.build();
            if (rounds > 0) {
                long start = System.nanoTime();
                for (int i = 0; i < rounds; i++) builder.build();
                out.append("N ").append((System.nanoTime() - start) / rounds).append('\n');
                return;
            }
            out.append("A\n");
            for (Map.Entry<String, TasksTuple> one : new TreeMap<>(found.targetAssignment()).entrySet())
                out.append(one.getKey()).append(' ').append(text(one.getValue().activeTasks())).append(' ')
                    .append(text(one.getValue().standbyTasks())).append('\n');
            out.append('R');
            for (CoordinatorRecord record : found.records())
                if (record.key() instanceof StreamsGroupTargetAssignmentMemberKey key) out.append(' ').append(key.memberId());
            out.append('\n');
        } catch (TaskAssignorException e) {
            out.append("X ").append(e.getMessage()).append('\n');
        }
    }

    private static void step(String[] parts, StringBuilder out) {
        StreamsGroupMember member = StreamsGroupMember.Builder.withDefaults("m")
            .setState(MemberState.valueOf(parts[1])).setMemberEpoch(Integer.parseInt(parts[2]))
            .setPreviousMemberEpoch(Integer.parseInt(parts[3])).setProcessId(parts[4])
            .setAssignedTasks(new TasksTupleWithEpochs(epochs(parts[5]), tasks(parts[6]), tasks(parts[7])))
            .setTasksPendingRevocation(new TasksTupleWithEpochs(epochs(parts[8]), tasks(parts[9]), tasks(parts[10])))
            .build();
        TasksTuple target = new TasksTuple(tasks(parts[12]), tasks(parts[13]), tasks(parts[14]));
        boolean told = !parts[15].equals("~");
        int at = told ? 18 : 16;
        BiFunction<String, Integer, Set<String>> active = processes(parts[at]);
        CurrentAssignmentBuilder builder = new CurrentAssignmentBuilder(member)
            .withTargetAssignment(Integer.parseInt(parts[11]), target)
            .withCurrentActiveTaskProcessId((i, task) -> active.apply(i, task).stream().findFirst().orElse(null))
            .withCurrentStandbyTaskProcessIds(processes(parts[at + 1]))
            .withCurrentWarmupTaskProcessIds(processes(parts[at + 2]))
            .withOwnedAssignment(told ? new TasksTuple(tasks(parts[15]), tasks(parts[16]), tasks(parts[17])) : null);
        try {
            StreamsGroupMember next = builder.build();
            if (next.equals(member)) out.append("C same\n");
            else out.append("C ").append(next.state()).append(' ').append(next.memberEpoch()).append(' ')
                .append(next.previousMemberEpoch()).append(' ').append(text(next.assignedTasks())).append(' ')
                .append(text(sorted(next.tasksPendingRevocation()))).append('\n');
        } catch (ApiException e) {
            out.append("F ").append(e.getMessage()).append('\n');
        }
    }

    /** The order of what is let go of shows nowhere: records are sorted. */
    private static TasksTupleWithEpochs sorted(TasksTupleWithEpochs tasks) {
        return new TasksTupleWithEpochs(new TreeMap<>(tasks.activeTasksWithEpochs()),
            new TreeMap<>(tasks.standbyTasks()), new TreeMap<>(tasks.warmupTasks()));
    }

    private static Map<String, Set<Integer>> tasks(String text) {
        Map<String, Set<Integer>> found = new HashMap<>();
        for (String one : subtopologies(text)) {
            Set<Integer> partitions = new HashSet<>();
            for (String partition : after(one).split(",")) partitions.add(Integer.parseInt(partition));
            found.put(before(one), partitions);
        }
        return found;
    }

    private static Map<String, Map<Integer, Integer>> epochs(String text) {
        Map<String, Map<Integer, Integer>> found = new HashMap<>();
        longs(text).forEach((i, some) -> some.forEach((partition, epoch) ->
            found.computeIfAbsent(i, key -> new HashMap<>()).put(partition, epoch.intValue())));
        Map<String, Map<Integer, Integer>> inOrder = new HashMap<>();
        for (String one : subtopologies(text)) inOrder.put(before(one), found.get(before(one)));
        return inOrder;
    }

    private static Map<String, Map<Integer, Long>> longs(String text) {
        Map<String, Map<Integer, Long>> found = new HashMap<>();
        for (String one : subtopologies(text)) {
            Map<Integer, Long> some = new HashMap<>();
            for (String pair : after(one).split(","))
                some.put(Integer.parseInt(pair.split("@")[0]), Long.parseLong(pair.split("@")[1]));
            found.put(before(one), some);
        }
        return found;
    }

    private static BiFunction<String, Integer, Set<String>> processes(String text) {
        Map<String, Set<String>> found = new HashMap<>();
        for (String one : subtopologies(text))
            for (String pair : after(one).split(","))
                found.put(before(one) + " " + pair.split("@")[0], new TreeSet<>(Arrays.asList(pair.split("@")[1].split("\\+"))));
        return (i, task) -> found.getOrDefault(i + " " + task, Set.of());
    }

    private static String[] subtopologies(String text) {
        return text.equals("-") ? new String[0] : text.split(";");
    }

    private static String before(String one) {
        return one.substring(0, one.indexOf(':'));
    }

    private static String after(String one) {
        return one.substring(one.indexOf(':') + 1);
    }

    private static String text(TasksTupleWithEpochs tasks) {
        StringJoiner found = new StringJoiner(";");
        for (Map.Entry<String, Map<Integer, Integer>> one : tasks.activeTasksWithEpochs().entrySet()) {
            StringJoiner some = new StringJoiner(",");
            new TreeMap<>(one.getValue()).forEach((partition, epoch) -> some.add(partition + "@" + epoch));
            found.add(one.getKey() + ":" + some);
        }
        return (found.length() == 0 ? "-" : found.toString()) + " " + text(tasks.standbyTasks()) + " "
            + text(tasks.warmupTasks());
    }

    private static String text(Map<String, Set<Integer>> tasks) {
        StringJoiner found = new StringJoiner(";");
        for (Map.Entry<String, Set<Integer>> one : tasks.entrySet()) {
            StringJoiner some = new StringJoiner(",");
            for (int partition : new TreeSet<>(one.getValue())) some.add(Integer.toString(partition));
            found.add(one.getKey() + ":" + some);
        }
        return found.length() == 0 ? "-" : found.toString();
    }
}
