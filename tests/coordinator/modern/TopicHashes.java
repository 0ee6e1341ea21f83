import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.lang.reflect.Proxy;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.Utils;

/**
 * Kafka's own hashes of topics. Lines "T name topic-id racks;racks" (a part for each partition, racks by comma, "-"
 * where there are none; "!" for a topic without partitions) are answered with the hash of the topic, "G" with that of
 * a group that has all topics since the last "G".
 */
public final class TopicHashes {
    private record Topic(String name, Uuid id, List<List<String>> racks) implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public int partitionCount() {
            return racks.size();
        }

        @Override
        public List<String> partitionRacks(int partition) {
            return racks.get(partition);
        }
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        Map<String, Long> hashes = new HashMap<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            if (parts[0].equals("G")) {
                out.append(Utils.computeGroupHash(hashes)).append('\n');
                hashes = new HashMap<>();
                continue;
            }
            List<List<String>> racks = new ArrayList<>();
            if (!parts[3].equals("!"))
                for (String partition : parts[3].split(";"))
                    racks.add(partition.equals("-") ? new ArrayList<>() : new ArrayList<>(Arrays.asList(partition.split(","))));
            Topic topic = new Topic(parts[1], Uuid.fromString(parts[2]), racks);
            CoordinatorMetadataImage image = (CoordinatorMetadataImage) Proxy.newProxyInstance(
                TopicHashes.class.getClassLoader(), new Class<?>[] {CoordinatorMetadataImage.class},
                (proxy, method, given) -> Optional.of(topic));
            long hash = Utils.computeTopicHash(parts[1], image);
            hashes.put(parts[1], hash);
            out.append(hash).append('\n');
        }
        System.out.print(out);
    }
}
