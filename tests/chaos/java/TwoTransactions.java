import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Two transactions of one producer, "SERVERS COMMITS": the first one commits, or else aborts, and the second one does the
 * opposite. The second one writes to partition 0, waits for a line on standard input, and writes to partition 1.
 */
public final class TwoTransactions {
    private TwoTransactions() {
    }

    public static void main(String[] args) throws Exception {
        boolean commits = Boolean.parseBoolean(args[1]);
        Map<String, Object> config = Map.of(
            "bootstrap.servers", args[0], "transactional.id", "shop", "retry.backoff.ms", 5, "reconnect.backoff.ms", 5
        );
        try (KafkaProducer<String, String> producer =
            new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", 0, null, "first"));
            producer.flush();
            end(producer, commits);
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("orders", 0, null, "second"));
            producer.flush();
            System.out.println("half");
            System.in.read();
            producer.send(new ProducerRecord<>("orders", 1, null, "second, too"));
            producer.flush();
            end(producer, !commits);
            System.out.println("done");
        }
    }

    private static void end(KafkaProducer<String, String> producer, boolean commits) {
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }
}
