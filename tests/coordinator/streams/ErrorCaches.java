import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own memory of errors. "N most" begins anew, "P now name ttl text" puts one in, and "G now name,…" is answered
 * with those that are known, in their order.
 */
public final class ErrorCaches {
    private static long now;

    private static final class Clock implements Time {
        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            throw new UnsupportedOperationException();
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?> kind = Class.forName("org.apache.kafka.server.ExpiringErrorCache");
        Constructor<?> make = kind.getDeclaredConstructor(int.class, Time.class);
        Method put = kind.getDeclaredMethod("put", String.class, String.class, long.class);
        Method get = kind.getDeclaredMethod("getErrorsForTopics", Set.class, long.class);
        make.setAccessible(true);
        put.setAccessible(true);
        get.setAccessible(true);
        Object cache = null;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split(" ");
            if (parts[0].equals("N")) {
                cache = make.newInstance(Integer.parseInt(parts[1]), new Clock());
                continue;
            }
            now = Long.parseLong(parts[1]);
            if (parts[0].equals("P")) {
                put.invoke(cache, parts[2], parts[4], Long.parseLong(parts[3]));
                continue;
            }
            Map<?, ?> found = (Map<?, ?>) get.invoke(cache, new LinkedHashSet<>(List.of(parts[2].split(","))), now);
            System.out.println(found);
        }
    }
}
