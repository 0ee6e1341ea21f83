import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's perf tools in one JVM, which is warm after the first of them; several at the same time, each in a thread.
 *
 * A request is one line on standard input, [[class, argument, ...], ...], one list for each tool. The answer is one
 * line on standard output: {"seconds": from the start to the end of the last one, "runs": [{"status", "said"}, ...]}.
 * The JVM ends when its standard input ends.
 */
public final class PerfTools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final InheritableThreadLocal<ByteArrayOutputStream> SAID = new InheritableThreadLocal<>();

    private PerfTools() {
    }

    private static final class Ended extends Error {
        private static final long serialVersionUID = 1;
        private final int status;

        private Ended(int status) {
            super(null, null, false, false);
            this.status = status;
        }
    }

    /** What a thread prints is kept for the tool that it belongs to. */
    private static final class Kept extends OutputStream {
        @Override
        public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            ByteArrayOutputStream mine = SAID.get();
            if (mine != null) {
                mine.write(bytes, offset, length);
            }
        }
    }

    private static final class Run extends Thread {
        private final String[] command;
        private final ByteArrayOutputStream said = new ByteArrayOutputStream();
        private int status;

        private Run(JsonNode words) {
            List<String> list = new ArrayList<>();
            words.forEach(word -> list.add(word.asText()));
            command = list.toArray(new String[0]);
        }

        @Override
        public void run() {
            SAID.set(said);
            String[] args = new String[command.length - 1];
            System.arraycopy(command, 1, args, 0, args.length);
            try {
                Class.forName(command[0]).getMethod("main", String[].class).invoke(null, (Object) args);
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof Ended) {
                    status = ((Ended) thrown.getCause()).status;
                } else {
                    thrown.getCause().printStackTrace();
                    status = 1;
                }
            } catch (ReflectiveOperationException | Ended thrown) {
                thrown.printStackTrace();
                status = 1;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(new PrintStream(new Kept(), true, StandardCharsets.UTF_8));
        System.setErr(System.out);
        Exit.setShutdownHookAdder((name, hook) -> { });
        Exit.setExitProcedure((status, message) -> {
            throw new Ended(status);
        });
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            List<Run> runs = new ArrayList<>();
            JSON.readTree(line).forEach(words -> runs.add(new Run(words)));
            long begin = System.nanoTime();
            runs.forEach(Thread::start);
            for (Run run : runs) {
                run.join();
            }
            ObjectNode answer = JSON.createObjectNode().put("seconds", (System.nanoTime() - begin) / 1e9);
            ArrayNode told = answer.putArray("runs");
            runs.forEach(run -> told.addObject().put("status", run.status)
                .put("said", run.said.toString(StandardCharsets.UTF_8)));
            answers.println(JSON.writeValueAsString(answer));
        }
        Runtime.getRuntime().halt(0);
    }
}
