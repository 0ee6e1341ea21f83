import java.io.FileReader;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends numbers and reads them until standard input ends, then prints how many it sent and which it read in their order. */
public class Renewing {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        try (FileReader file = new FileReader(args[0])) {
            settings.load(file);
        }
        String topic = args[1];
        int sent = 0;
        int read = 0;
        try (KafkaProducer<String, String> producer =
                        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
                KafkaConsumer<String, String> consumer =
                        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long deadline = Long.MAX_VALUE;
            while (deadline == Long.MAX_VALUE || (read < sent && System.currentTimeMillis() < deadline)) {
                if (deadline == Long.MAX_VALUE) {
                    producer.send(new ProducerRecord<>(topic, Integer.toString(sent++)));
                    if (System.in.available() > 0) {
                        producer.flush();
                        deadline = System.currentTimeMillis() + 60_000;
                    }
                }
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(20))) {
                    if (record.value().equals(Integer.toString(read))) {
                        read++;
                    }
                }
            }
        }
        System.out.println(sent + " " + read);
    }
}
