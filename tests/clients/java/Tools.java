import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command-line tools and Streams behind a pipe (Pipe.java).
 *
 * An instance is one run of a tool inside this JVM: {"verb": "tool", "main": class, "args": [...], "stdin": text}. Its
 * output is part of the answer.
 */
public final class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        WordCount streams = new WordCount();
        Pipe.serve(request -> request.get("verb").asText().equals("tool") ? run(request) : streams.serve(request));
    }

    private static final class Ended extends Error {
        private static final long serialVersionUID = 1;
    }

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final List<Runnable> hooks = new ArrayList<>();
    private ObjectNode result;

    static JsonNode run(JsonNode request) throws Exception {
        return new Tools().call(request);
    }

    private JsonNode call(JsonNode request) throws Exception {
        PrintStream outBefore = System.out;
        PrintStream errBefore = System.err;
        InputStream inBefore = System.in;
        List<String> args = new ArrayList<>();
        request.get("args").forEach(arg -> args.add(arg.asText()));
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        System.setIn(new ByteArrayInputStream(request.get("stdin").asText().getBytes(StandardCharsets.UTF_8)));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        Exit.setExitProcedure((status, message) -> {
            end(status);
            throw new Ended();
        });
        try {
            Class<?> tool = Class.forName(request.get("main").asText());
            forget(tool);
            tool.getMethod("main", String[].class).invoke(null, (Object) args.toArray(new String[0]));
            end(0);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                thrown.getCause().printStackTrace();
                end(1);
            }
        } finally {
            Exit.resetShutdownHookAdder();
            Exit.resetExitProcedure();
            System.setOut(outBefore);
            System.setErr(errBefore);
            System.setIn(inBefore);
        }
        return result;
    }

    /** What the tool has done until its first exit; what it does after an exit that did not end it, is void. */
    private void end(int status) {
        if (result == null) {
            hooks.forEach(Runnable::run);
            result = JSON.createObjectNode().put("status", status).put("out", out.toString(StandardCharsets.UTF_8))
                .put("err", err.toString(StandardCharsets.UTF_8));
        }
    }

    /** The console consumer counts in a static field, as it has a JVM of its own in its normal life. */
    private static void forget(Class<?> tool) throws Exception {
        for (Field field : tool.getDeclaredFields()) {
            if (field.getName().equals("messageCount")) {
                field.setAccessible(true);
                field.setInt(null, 0);
            }
        }
    }
}
