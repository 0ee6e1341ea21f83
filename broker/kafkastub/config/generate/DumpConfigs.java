// Prints kafkastub/config/kafka_table.py: Apache Kafka's configuration names, types, defaults and constraints.
// Facts only; the documentation texts stay in Kafka.
//
//   java -cp '<directory of Kafka jars>/*' DumpConfigs.java > ../kafka_table.py && ruff format ../kafka_table.py

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

public class DumpConfigs {
    static Map<String, String> modes = DynamicBrokerConfig.dynamicConfigUpdateModes();

    public static void main(String[] args) throws Exception {
        Properties release = new Properties();
        release.load(ConfigDef.class.getResourceAsStream("/kafka/kafka-version.properties"));
        System.out.println("\"\"\"Configuration names of Apache Kafka " + release.get("version") + ". Generated; do not edit.");
        System.out.println();
        System.out.println("Made by ``config/generate/DumpConfigs.java`` from ``AbstractKafkaConfig.CONFIG_DEF``, ``LogConfig``,");
        System.out.println("``GroupConfig``, ``ClientMetricsConfigs``, ``DynamicBrokerConfig`` and ``ServerTopicConfigSynonyms``.");
        System.out.println("A row is (type, default, importance, constraint, update mode); see ``definition.py``.");
        System.out.println("\"\"\"");
        System.out.println();
        System.out.println("from typing import Any, Final");
        System.out.println();
        System.out.println("Row = tuple[str, Any, str, tuple[Any, ...] | None, str]");
        table("BROKER", AbstractKafkaConfig.CONFIG_DEF);
        table("TOPIC", LogConfig.configDefCopy());
        table("GROUP", GroupConfig.CONFIG_DEF);
        table("CLIENT_METRICS", ClientMetricsConfigs.configDef());
        names("INTERNAL", k -> k.internalConfig);
        names("REQUIRED", k -> !k.hasDefault());
        synonyms();
    }

    static void table(String name, ConfigDef def) throws Exception {
        System.out.println("\n" + name + ": Final[dict[str, Row]] = {");
        for (ConfigDef.ConfigKey k : def.configKeys().values()) {
            String mode = name.equals("BROKER") ? modes.getOrDefault(k.name, "read-only") : "";
            System.out.println("    " + quote(k.name) + ": (" + quote(k.type.name().toLowerCase()) + ", "
                + literal(k.hasDefault() ? k.defaultValue : null) + ", " + quote(k.importance.name().toLowerCase()) + ", "
                + constraint(k.validator) + ", " + quote(mode) + "),");
        }
        System.out.println("}");
    }

    interface Choice { boolean test(ConfigDef.ConfigKey k); }

    static void names(String name, Choice choice) {
        TreeSet<String> all = new TreeSet<>();
        for (ConfigDef def : List.of(AbstractKafkaConfig.CONFIG_DEF, LogConfig.configDefCopy(), GroupConfig.CONFIG_DEF))
            for (ConfigDef.ConfigKey k : def.configKeys().values())
                if (choice.test(k)) all.add(k.name);
        System.out.println("\n" + name + ": Final = frozenset(" + literal(all) + ")");
    }

    static void synonyms() {
        System.out.println("\n# topic name -> broker names in the order of precedence, each with its factor to the topic's unit");
        System.out.println("TOPIC_SYNONYMS: Final[dict[str, tuple[tuple[str, int], ...]]] = {");
        for (Map.Entry<String, List<ConfigSynonym>> e : new TreeMap<>(ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS).entrySet()) {
            StringBuilder s = new StringBuilder("(");
            for (ConfigSynonym c : e.getValue()) {
                String one;
                try { one = c.converter().apply("1"); } catch (RuntimeException x) { one = "1"; }
                s.append("(").append(quote(c.name())).append(", ").append(one).append("), ");
            }
            System.out.println("    " + quote(e.getKey()) + ": " + s + "),");
        }
        System.out.println("}");
        System.out.println("\n# group name -> broker name");
        System.out.println("GROUP_SYNONYMS: Final[dict[str, str | None]] = {");
        for (String n : new TreeSet<>(GroupConfig.configNames()))
            System.out.println("    " + quote(n) + ": " + literal(GroupConfig.brokerSynonym(n).orElse(null)) + ",");
        System.out.println("}");
    }

    static Object field(Object o, String name) throws Exception {
        Field f = o.getClass().getDeclaredField(name);
        f.setAccessible(true);
        return f.get(o);
    }

    static String constraint(ConfigDef.Validator v) throws Exception {
        if (v == null) return "None";
        switch (v.getClass().getSimpleName()) {
            case "Range": return "(\"between\", " + literal(field(v, "min")) + ", " + literal(field(v, "max")) + ")";
            case "ValidString": return "(\"one of\", " + literal(field(v, "validStrings")) + ")";
            case "CaseInsensitiveValidString":
                return "(\"one of, any case\", " + literal(new TreeSet<>((Collection<?>) field(v, "validStrings"))) + ")";
            case "ValidList": return "(\"list of\", " + literal(field(field(v, "validString"), "validStrings")) + ", "
                + literal(field(v, "isEmptyAllowed")) + ", " + literal(field(v, "isNullAllowed")) + ")";
            case "LambdaValidator": return "(\"gzip level\",)";
            default: return "(" + quote(v.getClass().getSimpleName()) + ",)";
        }
    }

    static String literal(Object o) {
        if (o == null) return "None";
        if (o instanceof Boolean b) return b ? "True" : "False";
        if (o instanceof Number n) return n.toString();
        if (o instanceof Class<?> c) return quote(c.getName());
        if (o instanceof Collection<?> c) {
            List<String> items = new ArrayList<>();
            for (Object x : c) items.add(literal(x));
            return items.isEmpty() ? "()" : "(" + String.join(", ", items) + ",)";
        }
        return quote(o.toString());
    }

    static String quote(String s) {
        return "\"" + s.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
