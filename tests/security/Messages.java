import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Scanner;
import org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerClientInitialResponse;
import org.apache.kafka.common.security.scram.internals.ScramMessages;

/** Lines "kind TAB message in base64" on standard input: what Kafka reads in each, in base64 between tabs, or "refused". */
public final class Messages {
    public static void main(String[] args) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\n");
        while (lines.hasNext()) {
            String[] parts = lines.next().split("\t", -1);
            String[] read;
            try {
                read = read(parts[0], Base64.getDecoder().decode(parts[1]));
            } catch (Exception refused) {
                out.println("refused");
                continue;
            }
            StringBuilder line = new StringBuilder("read");
            for (String one : read)
                line.append('\t').append(Base64.getEncoder().encodeToString(one.getBytes(StandardCharsets.UTF_8)));
            out.println(line);
        }
    }

    private static String[] read(String kind, byte[] message) throws Exception {
        if (kind.equals("bearer")) {
            OAuthBearerClientInitialResponse first = new OAuthBearerClientInitialResponse(message);
            return new String[] {first.authorizationId(), first.tokenValue()};
        }
        if (kind.equals("scram first")) {
            ScramMessages.ClientFirstMessage first = new ScramMessages.ClientFirstMessage(message);
            return new String[] {first.authorizationId(), first.saslName(), first.nonce()};
        }
        ScramMessages.ClientFinalMessage last = new ScramMessages.ClientFinalMessage(message);
        return new String[] {last.nonce(), Base64.getEncoder().encodeToString(last.proof())};
    }
}
