import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * What brokers of many releases advertise, from their jars. Arguments: RELEASE=JAR:JAR… ; one line a release:
 *
 * RELEASE|feature:lowest:highest:finalized …|key:first-last key:first-last …
 *
 * Below 3.3 it is a broker with ZooKeeper (KRaft was not ready for production), from 3.3 on one with KRaft.
 */
public final class DumpReleases {
    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            String[] parts = arg.split("=", 2);
            List<URL> jars = new ArrayList<>();
            for (String jar : parts[1].split(File.pathSeparator)) {
                jars.add(new File(jar).toURI().toURL());
            }
            // the release's classes, and only slf4j beside them
            ClassLoader logging = new Only(DumpReleases.class.getClassLoader());
            try (URLClassLoader loader = new URLClassLoader(jars.toArray(new URL[0]), logging)) {
                boolean kraft = number(parts[0]) >= 303;
                System.out.println(parts[0] + "|" + (kraft ? features(loader) : "") + "|" + apis(loader, kraft));
            }
        }
    }

    private static int number(String release) {
        String[] parts = release.split("\\.");
        return Integer.parseInt(parts[0]) * 100 + Integer.parseInt(parts[1]);
    }

    private static String features(ClassLoader loader) throws Exception {
        Class<?> version = loader.loadClass("org.apache.kafka.server.common.MetadataVersion");
        Object latest;
        try {
            latest = version.getMethod("latestProduction").invoke(null);
        } catch (NoSuchMethodException before37) {
            latest = version.getMethod("latest").invoke(null);
        }
        Method level = version.getMethod("featureLevel");
        Object lowest;
        try {
            lowest = version.getField("MINIMUM_VERSION").get(null);
        } catch (NoSuchFieldException before40) {
            lowest = version.getField("MINIMUM_KRAFT_VERSION").get(null);
        }
        List<String> found = new ArrayList<>();
        found.add("metadata.version:" + level.invoke(lowest) + ":" + level.invoke(latest) + ":" + level.invoke(latest));
        for (Object feature : production(loader)) {
            Class<?> type = feature.getClass();
            Object name = type.getMethod("featureName").invoke(feature);
            Object most = type.getMethod("latestProduction").invoke(feature);
            Object least = type.getMethod("minimumProduction").invoke(feature);
            Object finalized = name.equals("kraft.version") ? most : ofNewCluster(feature, version, latest);
            if (!most.equals((short) 0)) {
                found.add(name + ":" + least + ":" + most + ":" + finalized);
            }
        }
        return String.join(" ", found);
    }

    private static Object ofNewCluster(Object feature, Class<?> version, Object latest) throws Exception {
        try {
            return feature.getClass().getMethod("defaultLevel", version).invoke(feature, latest);
        } catch (NoSuchMethodException before40) {
            return feature.getClass().getMethod("defaultValue", version).invoke(feature, latest);
        }
    }

    /** Brokers before 3.9 have none beside metadata.version. */
    private static Collection<?> production(ClassLoader loader) throws Exception {
        for (String name : List.of("Feature", "Features")) {
            try {
                Class<?> type = loader.loadClass("org.apache.kafka.server.common." + name);
                if (type.isEnum() && Arrays.stream(type.getMethods()).anyMatch(m -> m.getName().equals("minimumProduction"))) {
                    return (Collection<?>) type.getField("PRODUCTION_FEATURES").get(null);
                }
            } catch (ClassNotFoundException other) {
                continue;
            }
        }
        return List.of();
    }

    private static String apis(ClassLoader loader, boolean kraft) throws Exception {
        Class<?> keys = loader.loadClass("org.apache.kafka.common.protocol.ApiKeys");
        List<String> found = new ArrayList<>();
        for (Object key : served(loader, keys, kraft)) {
            int id = keys.getField("id").getShort(key);
            int first = (Short) keys.getMethod("oldestVersion").invoke(key);
            int last = (Short) keys.getMethod("latestVersion").invoke(key);
            if (unstable(keys, key)) {
                last--;
            }
            if (first <= last) {
                found.add(id + ":" + first + "-" + last);
            }
        }
        return String.join(" ", found);
    }

    private static boolean unstable(Class<?> keys, Object key) throws Exception {
        try {
            Object type = keys.getField("messageType").get(key);
            return (Boolean) type.getClass().getMethod("latestVersionUnstable").invoke(type);
        } catch (NoSuchFieldException | NoSuchMethodException before36) {
            return false;
        }
    }

    private static Collection<?> served(ClassLoader loader, Class<?> keys, boolean kraft) throws Exception {
        try {
            Class<?> listeners = loader.loadClass("org.apache.kafka.common.message.ApiMessageType$ListenerType");
            Object listener = listeners.getField(kraft ? "BROKER" : "ZK_BROKER").get(null);
            return (Collection<?>) keys.getMethod("apisForListener", listeners).invoke(null, listener);
        } catch (ClassNotFoundException before28) {
            try {
                return (Collection<?>) keys.getMethod("enabledApis").invoke(null);
            } catch (NoSuchMethodException before27) {
                return Arrays.asList(keys.getEnumConstants());
            }
        }
    }

    /** Lets nothing of Kafka through: each release brings its own. */
    private static final class Only extends ClassLoader {
        Only(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.apache.kafka.")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
