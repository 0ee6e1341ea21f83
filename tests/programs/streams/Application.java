import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;

/**
 * Kafka Streams applications with exactly_once_v2: Application TOPOLOGY BOOTSTRAP ID STATE INPUT... OUTPUT.
 *
 * "count" passes on each new count of a word. "join" pairs the records of two topics by their key, whichever is first.
 * It ends in order at SIGTERM, and with status 1 where a thread of it fails.
 */
final class Application {
    private Application() { }

    public static void main(String[] args) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> first = builder.stream(args[4]);
        if (args[0].equals("count")) {
            first.flatMapValues(line -> Arrays.asList(line.split(" ")))
                .groupBy((key, word) -> word)
                .count()
                .toStream()
                .mapValues(count -> count.toString())
                .to(args[5]);
        } else {
            JoinWindows window = JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMinutes(30));
            first.join(builder.<String, String>stream(args[5]), (one, other) -> one + "+" + other, window).to(args[6]);
        }
        KafkaStreams streams = new KafkaStreams(builder.build(), settings(args));
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            new Thread(() -> Runtime.getRuntime().halt(1)).start();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((state, before) -> System.out.println(state));
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }

    private static Properties settings(String[] args) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[1]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, args[2]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[3]);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG,
            "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
        settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
        // every count is passed on, not the last one of a while: each can then be asked for
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put("auto.offset.reset", "earliest");
        settings.put("session.timeout.ms", 6000);
        settings.put("heartbeat.interval.ms", 1000);
        return settings;
    }
}
