import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * RE2/J, as Kafka uses it. The first line has names by blank; each line behind it is an expression in base64. It is
 * answered with one letter for each name, y where the whole of it matches and n where not, or with "X description".
 */
public final class Expressions {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String[] names = in.readLine().split(" ");
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            try {
                Pattern pattern = Pattern.compile(text);
                for (String name : names) out.append(pattern.matcher(name).matches() ? 'y' : 'n');
            } catch (PatternSyntaxException e) {
                out.append("X ").append(e.getDescription());
            }
            out.append('\n');
        }
        System.out.print(out);
    }
}
