import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A Flink job that copies a topic in capitals, exactly once: Job BOOTSTRAP INPUT OUTPUT CHECKPOINTS FAILURE [CHECKPOINT].
 *
 * It fails once, when it sees the value FAILURE and no file of that name lies in CHECKPOINTS, and is started again by
 * Flink. CHECKPOINT is one of an earlier process, from which it goes on.
 */
final class Job {
    private static final int PARALLELISM = 2;

    private Job() { }

    public static void main(String[] args) throws Exception {
        StreamExecutionEnvironment job = StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM, settings(args));
        KafkaSource<String> source = KafkaSource.<String>builder()
            .setBootstrapServers(args[0])
            .setTopics(args[1])
            .setGroupId(args[2])
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new SimpleStringSchema())
            .setProperty("isolation.level", "read_committed")
            .build();
        KafkaSink<String> sink = KafkaSink.<String>builder()
            .setBootstrapServers(args[0])
            .setRecordSerializer(serializer(args[2]))
            .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .setTransactionalIdPrefix(args[2])
            .setProperty("transaction.timeout.ms", "60000")
            .build();
        job.fromSource(source, WatermarkStrategy.noWatermarks(), "source").map(capitals(args[3], args[4])).sinkTo(sink);
        job.execute();
    }

    /** To the partition that the value begins with. */
    private static KafkaRecordSerializationSchema<String> serializer(String topic) {
        return (value, context, timestamp) -> new ProducerRecord<>(topic,
            Integer.valueOf(value.substring(0, value.indexOf('-'))), null, value.getBytes(StandardCharsets.UTF_8));
    }

    private static MapFunction<String, String> capitals(String folder, String failure) {
        return value -> {
            Path failed = Path.of(folder, failure);
            if (value.equals(failure) && !Files.exists(failed)) {
                Files.createFile(failed);
                throw new IllegalStateException("this job fails once, at " + failure);
            }
            return value.toUpperCase();
        };
    }

    private static Configuration settings(String[] args) {
        Configuration settings = new Configuration();
        settings.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(500));
        settings.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, Path.of(args[3]).toUri().toString());
        settings.set(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
            ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 3);
        settings.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(100));
        if (args.length > 5) {
            settings.set(StateRecoveryOptions.SAVEPOINT_PATH, args[5]);
        }
        return settings;
    }
}
