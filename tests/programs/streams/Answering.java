import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyQueryMetadata;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsMetadata;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.HostInfo;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * Interactive queries of the table, over HTTP: each answer is the whole as JSON.
 *
 * /active and /all: {key: value} of this instance, in its active tasks and in its standbys too. /where/KEY...: for each
 * key [instance that has it, those with a standby]. /instances: {instance: [active, standby] partitions} as it knows of
 * them. /restored: how many records it has read to restore active tasks.
 */
final class Answering implements StateRestoreListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final KafkaStreams streams;
    private final AtomicLong restored = new AtomicLong();

    Answering(KafkaStreams streams) {
        this.streams = streams;
        streams.setGlobalStateRestoreListener(this);
    }

    void at(String address) throws IOException {
        int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.setExecutor(Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        }));
        server.createContext("/", exchange -> {
            int status = 200;
            byte[] answer;
            try {
                answer = JSON.writeValueAsBytes(answer(exchange.getRequestURI().getPath().split("/")));
            } catch (InvalidStateStoreException notOpen) {
                status = 503;
                answer = notOpen.toString().getBytes();
            }
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    private Object answer(String[] path) {
        switch (path[1]) {
            case "active":
                return rows(false);
            case "all":
                return rows(true);
            case "where":
                return where(path);
            case "instances":
                return instances();
            case "restored":
                return restored.get();
            default:
                throw new IllegalArgumentException(path[1]);
        }
    }

    private ObjectNode rows(boolean standbysToo) {
        StoreQueryParameters<ReadOnlyKeyValueStore<String, String>> asked =
            StoreQueryParameters.fromNameAndType(Application.TABLE, QueryableStoreTypes.keyValueStore());
        ObjectNode rows = JSON.createObjectNode();
        try (KeyValueIterator<String, String> all = streams.store(standbysToo ? asked.enableStaleStores() : asked).all()) {
            all.forEachRemaining(entry -> rows.put(entry.key, entry.value));
        }
        return rows;
    }

    private ObjectNode where(String[] path) {
        ObjectNode places = JSON.createObjectNode();
        for (int i = 2; i < path.length; i++) {
            KeyQueryMetadata found =
                streams.queryMetadataForKey(Application.TABLE, path[i], Serdes.String().serializer());
            ArrayNode standbys = places.putArray(path[i]).add(name(found.activeHost())).addArray();
            found.standbyHosts().forEach(host -> standbys.add(name(host)));
        }
        return places;
    }

    private ObjectNode instances() {
        ObjectNode known = JSON.createObjectNode();
        for (StreamsMetadata one : streams.metadataForAllStreamsClients()) {
            known.putArray(name(one.hostInfo())).add(one.topicPartitions().size())
                .add(one.standbyTopicPartitions().size());
        }
        return known;
    }

    private static String name(HostInfo host) {
        return host.host() + ":" + host.port();
    }

    @Override
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) { }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long end, long count) { }

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long total) {
        restored.addAndGet(total);
    }
}
