import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;

/** What Apache Avro says of schemas: a question a line on standard input, an answer a line on standard output. */
public final class AvroWitness {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            JsonNode question = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (question.has("schema")) {
                    answer.put("text", parsed(question.get("schema").asText()).toString());
                } else {
                    compare(question, answer);
                }
            } catch (Exception | StackOverflowError error) {
                answer.put("error", String.valueOf(error.getMessage()));
            }
            answers.println(JSON.writeValueAsString(answer));
        }
    }

    private static Schema parsed(String text) {
        return new Schema.Parser().setValidateDefaults(true).parse(text);
    }

    private static void compare(JsonNode question, ObjectNode answer) {
        Schema reader = parsed(question.get("reader").asText());
        Schema writer = parsed(question.get("writer").asText());
        SchemaCompatibility.SchemaCompatibilityResult result =
                SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult();
        for (SchemaCompatibility.Incompatibility each : result.getIncompatibilities()) {
            answer.withArray("incompatibilities")
                    .addObject()
                    .put("type", each.getType().name())
                    .put("location", each.getLocation())
                    .put("message", each.getMessage());
        }
        answer.put("compatible", result.getIncompatibilities().isEmpty());
    }
}
