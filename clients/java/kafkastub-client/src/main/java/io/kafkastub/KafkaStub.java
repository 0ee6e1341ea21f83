package io.kafkastub;

import io.kafkastub.control.Control;
import io.kafkastub.internal.CommandFinder;
import io.kafkastub.internal.Launcher;
import io.kafkastub.model.FaultRule;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A Kafka broker for tests, at free ports of this machine.
 *
 * <pre>{@code
 * try (KafkaStub stub = KafkaStub.start("orders:3")) {
 *     var producer = new KafkaProducer<>(Map.of("bootstrap.servers", stub.bootstrapServers()), …);
 *     stub.clock().advance(Duration.ofDays(7));
 * }
 * }</pre>
 *
 * <p>All stubs of a JVM live in one process, which the first one starts and which ends with the JVM. The command is the
 * one that the builder names, the system property {@code kafkastub.command}, the environment variable {@code
 * KAFKASTUB}, the artifact {@code kafkastub-binary}, or {@code kafkastub} on the PATH: the first that is there.
 */
public final class KafkaStub extends Control implements AutoCloseable {
    private final Launcher launcher;
    private final Map<String, Object> description;
    private final AtomicBoolean closed = new AtomicBoolean();

    private KafkaStub(Launcher launcher, Map<String, Object> description) {
        super((String) description.get("control_url"), (String) description.get("control_token"));
        this.launcher = launcher;
        this.description = description;
    }

    /**
     * Start a stub.
     *
     * @param topics topics that exist from the start, NAME:PARTITIONS, or NAME for one partition
     * @throws StubStartException if it does not start
     */
    public static KafkaStub start(String... topics) {
        return builder().topics(topics).start();
    }

    /** A stub that is put together. */
    public static Builder builder() {
        return new Builder();
    }

    /** HOST:PORT, for {@code bootstrap.servers}. */
    public String bootstrapServers() {
        return (String) description.get("bootstrap_servers");
    }

    /** HOST:PORT of each listener, by its name. */
    @SuppressWarnings("unchecked")
    public Map<String, String> listeners() {
        return Collections.unmodifiableMap((Map<String, String>) description.get("listeners"));
    }

    /** The URL of the schema registry; null without {@link Builder#registry()}. */
    public String registryUrl() {
        return (String) description.get("registry_url");
    }

    /** The certificate authority of a broker with TLS, a file of PEM; null if there is none. */
    public Path caFile() {
        var file = (String) description.get("ca_file");
        return file == null ? null : Path.of(file);
    }

    /** End the stub; its ports are free when this returns. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            launcher.stop((String) description.get("id"));
        }
    }

    @Override
    public String toString() {
        return "KafkaStub[" + bootstrapServers() + "]";
    }

    /** What a stub is to be like. Two with the same settings are equal. */
    public static final class Builder {
        private final Map<String, Object> options = new LinkedHashMap<>();
        private final Map<String, Object> topics = new LinkedHashMap<>();
        private final Map<String, Object> config = new LinkedHashMap<>();
        private final List<Object> faults = new ArrayList<>();
        private String command;

        private Builder() {
            // Kafka waits three seconds for more members before the first rebalance of a group.
            config.put("group.initial.rebalance.delay.ms", 0);
        }

        /** Another one with the same settings. */
        public Builder copy() {
            var found = new Builder();
            found.options.putAll(options);
            found.topics.putAll(topics);
            found.config.putAll(config);
            found.faults.addAll(faults);
            found.command = command;
            return found;
        }

        private Builder with(String name, Object value) {
            options.put(name, value);
            return this;
        }

        /** Topics that exist from the start: NAME:PARTITIONS, or NAME for one partition. */
        public Builder topics(String... names) {
            for (String name : names) {
                int colon = name.lastIndexOf(':');
                topic(colon < 0 ? name : name.substring(0, colon), colon < 0 ? 1 : partitions(name, colon));
            }
            return this;
        }

        private static int partitions(String name, int colon) {
            try {
                return Integer.parseInt(name.substring(colon + 1));
            } catch (NumberFormatException error) {
                throw new IllegalArgumentException("topics: '" + name + "' is neither NAME nor NAME:PARTITIONS", error);
            }
        }

        /** A topic that exists from the start. */
        public Builder topic(String name, int partitions) {
            topics.put(name, partitions);
            return this;
        }

        /**
         * A value of Kafka's broker configuration. {@code group.initial.rebalance.delay.ms} is 0 unless it is set.
         *
         * @param value a string, a number or a boolean
         */
        public Builder config(String name, Object value) {
            config.put(name, value);
            return this;
        }

        /** Values of Kafka's broker configuration. */
        public Builder config(Map<String, ?> values) {
            config.putAll(values);
            return this;
        }

        /** A server.properties; {@link #config} wins over it. */
        public Builder configFile(Path file) {
            return with("config_file", file.toAbsolutePath().toString());
        }

        /** {@code kips}, the default, or {@code kafka}: Apache Kafka 4.x exactly (docs/profiles.md). */
        public Builder profile(String profile) {
            return with("profile", profile);
        }

        /** Advertise and accept only what this release of Apache Kafka has, 2.1 to 4.4 (docs/as-version.md). */
        public Builder asVersion(String release) {
            return with("as_version", release);
        }

        /** The number of nodes of the cluster, 1 by default. */
        public Builder nodes(int nodes) {
            return with("nodes", nodes);
        }

        /** The racks of the nodes, given to them in turn. */
        public Builder racks(String... racks) {
            return with("racks", List.of(racks));
        }

        /** The address to listen on, 127.0.0.1 by default. */
        public Builder host(String host) {
            return with("host", host);
        }

        /** The port to listen on; by default any free one. */
        public Builder port(int port) {
            return with("port", port);
        }

        /** The advertised address, HOST:PORT. */
        public Builder advertised(String address) {
            return with("advertised", address);
        }

        /** Keep everything in a folder, for the next stub. */
        public Builder dataDir(Path folder) {
            return with("data_dir", folder.toAbsolutePath().toString());
        }

        /** Begin with the state that a file has ({@link io.kafkastub.control.Snapshots#download}). */
        public Builder snapshot(Path file) {
            return with("snapshot", file.toAbsolutePath().toString());
        }

        /** Names and passwords of SASL. */
        public Builder users(Map<String, String> passwords) {
            return with("users", new LinkedHashMap<>(passwords));
        }

        /** A fault rule that is there from the start. */
        public Builder fault(FaultRule rule) {
            faults.add(rule.toMap());
            return this;
        }

        /** Chaos by a seed, from the start; level 1 to 3 (docs/chaos.md). */
        public Builder chaos(long seed, int level) {
            return with("chaos", seed).with("chaos_level", level);
        }

        /** Write every request and answer into a folder, a new one (docs/journal.md). */
        public Builder journal(Path folder) {
            return with("journal", folder.toAbsolutePath().toString());
        }

        /** How many requests the journal keeps, 10,000 by default. */
        public Builder journalEntries(int entries) {
            return with("journal_entries", entries);
        }

        /** Start a schema registry, too: {@link KafkaStub#registryUrl()}. */
        public Builder registry() {
            return with("registry", true);
        }

        /** A name for lists: that of the test. */
        public Builder name(String name) {
            return with("name", name);
        }

        /** Any option of the launcher, by its name (docs/launcher.json). */
        public Builder option(String name, Object value) {
            return with(name, value);
        }

        /** The command to start: a path, or a name on the PATH. */
        public Builder command(String command) {
            this.command = command;
            return this;
        }

        /** The options, by the names that the launcher has. */
        public Map<String, Object> options() {
            var found = new LinkedHashMap<>(options);
            found.put("config", config);
            if (!topics.isEmpty()) {
                found.put("topics", topics);
            }
            if (!faults.isEmpty()) {
                found.put("faults", faults);
            }
            return found;
        }

        /**
         * Start the stub. This object can start others.
         *
         * @throws StubStartException if it does not start: one sentence that names the option
         */
        public KafkaStub start() {
            Launcher launcher = Launcher.of(CommandFinder.ofThisJvm().find(command));
            return new KafkaStub(launcher, launcher.start(options()));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Builder && description().equals(((Builder) other).description());
        }

        @Override
        public int hashCode() {
            return description().hashCode();
        }

        private List<Object> description() {
            return List.of(options(), command == null ? "" : command);
        }

        @Override
        public String toString() {
            return "KafkaStub.Builder" + options();
        }
    }
}
