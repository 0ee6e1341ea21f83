import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler;

/**
 * What Kafka's validators make of bearer tokens, one line for one line of standard input.
 *
 * <p>The argument is the URL of a JWKS file. Lines have, between tabs, "signed" or "unsecured", settings as "name=value"
 * between semicolons, and the token; answers "accepted", the principal, the end in ms since 1970, or "refused". A token
 * at which the validator fails otherwise than Kafka expects is "broken": its connection ends without a word.
 */
public final class Tokens {
    private static final String MECHANISM = "OAUTHBEARER";

    public static void main(String[] args) {
        System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", args[0]);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Map<String, AuthenticateCallbackHandler> handlers = new HashMap<>();
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\n");
        while (lines.hasNext()) {
            String[] parts = lines.next().split("\t", -1);
            AuthenticateCallbackHandler handler =
                handlers.computeIfAbsent(parts[0] + parts[1], key -> handler(parts[0], parts[1], args[0]));
            out.println(answer(handler, parts[2]));
        }
    }

    private static AuthenticateCallbackHandler handler(String kind, String settings, String keys) {
        Map<String, Object> configs = new HashMap<>();
        Map<String, String> options = new HashMap<>();
        configs.put("sasl.oauthbearer.clock.skew.seconds", 30);
        configs.put("sasl.oauthbearer.scope.claim.name", "scope");
        configs.put("sasl.oauthbearer.sub.claim.name", "sub");
        configs.put("sasl.oauthbearer.expected.audience", List.of());
        configs.put("sasl.oauthbearer.expected.issuer", null);
        configs.put("sasl.oauthbearer.allow.unverified.audience", true);
        configs.put("sasl.oauthbearer.allow.unverified.issuer", true);
        configs.put("sasl.oauthbearer.jwks.endpoint.url", keys);
        configs.put("sasl.oauthbearer.jwt.validator.class",
            org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator.class);
        for (String one : settings.isEmpty() ? new String[0] : settings.split(";")) {
            String[] pair = one.split("=", 2);
            if (pair[0].startsWith("unsecured"))
                options.put(pair[0], pair[1]);
            else if (pair[0].endsWith("seconds"))
                configs.put(pair[0], Integer.parseInt(pair[1]));
            else if (pair[0].endsWith("audience"))
                configs.put(pair[0], List.of(pair[1].split(",")));
            else
                configs.put(pair[0], pair[1]);
        }
        AppConfigurationEntry entry = new AppConfigurationEntry(
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, options);
        AuthenticateCallbackHandler made = kind.equals("signed")
            ? new OAuthBearerValidatorCallbackHandler() : new OAuthBearerUnsecuredValidatorCallbackHandler();
        made.configure(configs, MECHANISM, List.of(entry));
        return made;
    }

    private static String answer(AuthenticateCallbackHandler handler, String text) {
        OAuthBearerValidatorCallback asked = new OAuthBearerValidatorCallback(text);
        try {
            handler.handle(new Callback[] {asked});
        } catch (Exception | StackOverflowError broken) {
            return "broken";
        }
        OAuthBearerToken token = asked.token();
        if (token == null)
            return "refused\t" + asked.errorStatus();
        return "accepted\t" + token.principalName().replace("\n", "\\n") + "\t" + token.lifetimeMs();
    }
}
