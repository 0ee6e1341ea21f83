import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Formats a log directory and runs a Kafka node over it, in one JVM (a second or so cheaper than two).
 *
 * Arguments: the server.properties file, the cluster id. The JVM ends when its standard input ends, so that it cannot
 * outlive the test process that started it, however that one died; the properties' folder then goes with it.
 */
public final class StartKafka {
    private StartKafka() {
    }

    public static void main(String[] args) throws IOException {
        String properties = args[0];
        String clusterId = args[1];
        File folder = new File(properties).getAbsoluteFile().getParentFile();
        Thread watch = new Thread(() -> haltAtEndOfInput(folder), "end-of-input");
        watch.setDaemon(true);
        watch.start();
        List<String> format = new ArrayList<>(
            List.of("format", "--ignore-formatted", "--cluster-id", clusterId, "--config", properties));
        boolean joins = Files.readAllLines(Path.of(properties)).stream()
            .anyMatch(line -> line.equals("process.roles=broker") || line.startsWith("controller.quorum.voters="));
        if (!joins) {
            format.add("--standalone"); // a node that is no controller, or of a fixed list, has no quorum to begin
        }
        int status = kafka.tools.StorageTool.execute(format.toArray(new String[0]), System.out);
        if (status != 0) {
            System.exit(status);
        }
        kafka.Kafka.main(new String[] {properties});
    }

    private static void haltAtEndOfInput(File folder) {
        try {
            while (System.in.read() >= 0) {
                // Whatever is written to us is of no interest, only that the other end is still open.
            }
        } catch (IOException closed) {
            // Same as its end.
        }
        delete(folder);
        Runtime.getRuntime().halt(0);
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        if (inside != null) {
            for (File one : inside) {
                delete(one);
            }
        }
        file.delete();
    }
}
