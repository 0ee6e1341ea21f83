import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;

/**
 * Kafka Streams applications: Application TOPOLOGY BOOTSTRAP ID STATE TOPIC... [KEY=VALUE...], topics that are read
 * first, then the one that is written.
 *
 * "count" passes on each new count of a word. "join" pairs the records of two topics by their key, whichever is first.
 * "table" keeps the last value of each key, and tells of them at its application.server (Answering). "fragile" passes
 * on what it reads until that is "break": then it asks for the end of all instances.
 * With exactly_once_v2 and the classic protocol where the settings behind the topics say nothing else. It ends in order
 * at SIGTERM, and with status 1 where a thread of it fails.
 */
final class Application {
    static final String TABLE = "table";
    private static final String FRAGILE = "fragile";

    private Application() { }

    public static void main(String[] args) throws Exception {
        List<String> topics = new ArrayList<>();
        Properties settings = settings(args);
        for (String word : Arrays.asList(args).subList(4, args.length)) {
            int end = word.indexOf('=');
            if (end < 0) {
                topics.add(word);
            } else {
                settings.put(word.substring(0, end), word.substring(end + 1));
            }
        }
        if (!"streams".equals(settings.get("group.protocol"))) { // with streams groups they are the broker's
            settings.put("session.timeout.ms", 6000);
            settings.put("heartbeat.interval.ms", 1000);
        }
        KafkaStreams streams = new KafkaStreams(topology(args[0], topics).build(), settings);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            if (args[0].equals(FRAGILE)) {
                return StreamThreadExceptionResponse.SHUTDOWN_APPLICATION;
            }
            new Thread(() -> Runtime.getRuntime().halt(1)).start();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((state, before) -> System.out.println(state));
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        if (args[0].equals(TABLE)) {
            new Answering(streams).at(settings.getProperty(StreamsConfig.APPLICATION_SERVER_CONFIG));
        }
        streams.start();
    }

    private static StreamsBuilder topology(String name, List<String> topics) {
        StreamsBuilder builder = new StreamsBuilder();
        switch (name) {
            case "count":
                builder.<String, String>stream(topics.get(0))
                    .flatMapValues(line -> Arrays.asList(line.split(" ")))
                    .groupBy((key, word) -> word)
                    .count()
                    .toStream()
                    .mapValues(count -> count.toString())
                    .to(topics.get(1));
                break;
            case "join":
                JoinWindows window = JoinWindows.ofTimeDifferenceWithNoGrace(Duration.ofMinutes(30));
                KStream<String, String> second = builder.stream(topics.get(1));
                builder.<String, String>stream(topics.get(0))
                    .join(second, (one, other) -> one + "+" + other, window).to(topics.get(2));
                break;
            case FRAGILE:
                builder.<String, String>stream(topics.get(0)).peek((key, value) -> {
                    if (value.equals("break")) {
                        throw new IllegalStateException("broken");
                    }
                }).to(topics.get(1));
                break;
            case TABLE:
                builder.<String, String>table(topics.get(0), Materialized.as(TABLE));
                break;
            default:
                throw new IllegalArgumentException(name);
        }
        return builder;
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
        return settings;
    }
}
