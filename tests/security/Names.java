import java.io.FileInputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Scanner;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/** Lines "rules TAB name" on standard input, or a PEM file's path: what Kafka makes of each, one line for one line. */
public final class Names {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8).useDelimiter("\n");
        while (lines.hasNext()) {
            String[] parts = lines.next().split("\t", -1);
            out.println(parts.length == 1 ? subject(parts[0]) : mapped(parts[0], parts[1]));
        }
    }

    private static String subject(String path) throws Exception {
        try (FileInputStream file = new FileInputStream(path)) {
            X509Certificate one = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(file);
            return one.getSubjectX500Principal().getName();
        }
    }

    private static String mapped(String rules, String name) {
        SslPrincipalMapper mapper;
        try {
            mapper = SslPrincipalMapper.fromRules(rules);
        } catch (RuntimeException refused) {
            return "refused";
        }
        try {
            return "User:" + mapper.getName(name);
        } catch (Exception none) {
            return "none";
        }
    }
}
