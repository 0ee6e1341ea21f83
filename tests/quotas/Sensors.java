import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.metrics.QuotaViolationException;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.metrics.stats.Rate;
import org.apache.kafka.common.metrics.stats.TokenBucket;
import org.apache.kafka.server.quota.QuotaUtils;

/**
 * Kafka's own meters. Lines "rate|bucket WINDOWS SECONDS BOUND" on standard input begin a new one, "VALUE TIME" records
 * so much at that time, in ms; the answer to that is for how many ms the quota is exceeded then.
 */
public final class Sensors {
    public static void main(String[] args) {
        Scanner lines = new Scanner(System.in);
        Metrics metrics = new Metrics();
        Sensor sensor = null;
        boolean isBucket = false;
        int number = 0;
        StringBuilder out = new StringBuilder();
        while (lines.hasNextLine()) {
            String[] parts = lines.nextLine().split(" ");
            if (parts.length == 4) {
                isBucket = parts[0].equals("bucket");
                MetricConfig config = new MetricConfig().samples(Integer.parseInt(parts[1]))
                    .timeWindow(Long.parseLong(parts[2]), TimeUnit.SECONDS)
                    .quota(new Quota(Double.parseDouble(parts[3]), true));
                sensor = metrics.sensor("sensor" + ++number);
                sensor.add(metrics.metricName("use", "quotas" + number), isBucket ? new TokenBucket() : new Rate(), config);
                continue;
            }
            long time = Long.parseLong(parts[1]);
            long wait = 0;
            try {
                sensor.record(Double.parseDouble(parts[0]), time, true);
            } catch (QuotaViolationException e) {
                wait = isBucket ? Math.round(-e.value() / e.bound() * 1000) : QuotaUtils.throttleTime(e, time);
            }
            out.append(wait).append('\n');
        }
        System.out.print(out);
    }
}
