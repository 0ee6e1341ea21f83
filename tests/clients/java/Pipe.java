import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.common.protocol.Errors;

/**
 * A request is one line of JSON on standard input, {"verb": …, …}; its answer is one line on standard output,
 * {"value": …} or {"error": {"code": a name of Kafka's Errors, "text": …}}. The JVM ends when its standard input ends.
 */
final class Pipe {
    interface Verbs {
        JsonNode serve(JsonNode request) throws Exception;
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    private Pipe() {
    }

    static void serve(Verbs verbs) throws IOException {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(System.err);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("value", verbs.serve(JSON.readTree(line)));
            } catch (Throwable problem) {
                Throwable cause = problem instanceof ExecutionException ? problem.getCause() : problem;
                answer.putObject("error").put("code", Errors.forException(cause).name()).put("text", cause.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
        }
        Runtime.getRuntime().halt(0);
    }
}
