import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.ArrayOf;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.CompactArrayOf;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.coordinator.share.generated.ShareSnapshotValue;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;

/**
 * What Apache Kafka's own message classes write and read, as JSON lines on standard output.
 *
 * <p>Arguments: SEED WRITTEN MUTATED. For every message and version: WRITTEN lines {"m","v","hex","json"} of varied
 * values, and MUTATED lines {"m","v","hex"} of damaged bytes with either "json" and "left" (bytes not read) or
 * "error". And {"m","defaults"}: the JSON of every message and structure (Message.Structure) that nobody has touched.
 *
 * <p>Values come from the version's Schema object (a description apart from the generated readers and writers).
 */
public final class WireWitness {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static PrintStream out;

    public static void main(String[] args) throws Exception {
        long seed = Long.parseLong(args[0]);
        int written = Integer.parseInt(args[1]);
        int mutated = Integer.parseInt(args[2]);
        out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (Class<?> data : messages()) {
            new Witness(data, seed).testify(written, mutated);
        }
        out.flush();
    }

    private static List<Class<?>> messages() throws Exception {
        TreeSet<String> names = new TreeSet<>();
        for (Class<?> one : List.of(
                OffsetCommitRequestData.class, OffsetCommitValue.class, ShareSnapshotValue.class, TransactionLogValue.class)) {
            String jar = one.getProtectionDomain().getCodeSource().getLocation().getPath();
            try (JarFile file = new JarFile(jar)) {
                file.stream()
                        .map(entry -> entry.getName())
                        .filter(name -> name.endsWith("JsonConverter.class") && !name.contains("$"))
                        .forEach(name -> names.add(name.replace('/', '.').replace("JsonConverter.class", "")));
            }
        }
        List<Class<?>> found = new ArrayList<>();
        for (String name : names) {
            found.add(Class.forName(name));
        }
        return found;
    }

    private static final class Witness {
        private final Class<?> data;
        private final String name;
        private final Schema[] schemas;
        private final short first;
        private final short last;
        private final Method toJson;
        private final long seed;

        Witness(Class<?> data, long seed) throws Exception {
            this.data = data;
            this.name = data.getSimpleName();
            this.schemas = (Schema[]) data.getField("SCHEMAS").get(null);
            this.first = data.getField("LOWEST_SUPPORTED_VERSION").getShort(null);
            this.last = data.getField("HIGHEST_SUPPORTED_VERSION").getShort(null);
            Class<?> converter = Class.forName(data.getName() + "JsonConverter");
            this.toJson = converter.getMethod("write", data, short.class);
            this.seed = seed;
        }

        void testify(int written, int mutated) throws Exception {
            for (short version = first; version <= last; version++) {
                Random random = new Random(seed * 31 + name.hashCode() * 1009L + version);
                Values values = new Values(random);
                for (int variant = 0; variant < written; variant++) {
                    values.shape = variant < 3 ? variant : 1 + variant % 2;
                    Message message = varied(values, version);
                    ObjectNode line = line(version, write(message, version));
                    line.set("json", json(message, version));
                    out.println(line);
                }
                values.shape = 1;
                values.brief = true;
                Mutations mutations = new Mutations(random);
                for (int variant = 0; variant < mutated; variant++) {
                    verdict(version, mutations.of(write(varied(values, version), version), variant));
                }
            }
            defaults(data, toJson, name);
            for (Class<?> inner : data.getDeclaredClasses()) {
                if (Message.class.isAssignableFrom(inner)) {
                    String converter = data.getName() + "JsonConverter$" + inner.getSimpleName() + "JsonConverter";
                    Method method = Class.forName(converter).getMethod("write", inner, short.class);
                    defaults(inner, method, name + "." + inner.getSimpleName());
                }
            }
        }

        private Message varied(Values values, short version) throws Exception {
            Struct struct = values.struct(schemas[version], 0);
            ByteBuffer buffer = ByteBuffer.allocate(schemas[version].sizeOf(struct));
            schemas[version].write(buffer, struct);
            buffer.flip();
            Message message = read(buffer, version);
            if (buffer.hasRemaining()) {
                throw new IllegalStateException(name + " v" + version + " left " + buffer.remaining());
            }
            return message;
        }

        private void defaults(Class<?> type, Method converter, String title) throws Exception {
            Message blank = (Message) type.getConstructor().newInstance();
            ObjectNode defaults = JsonNodeFactory.instance.objectNode();
            for (short version = first; version <= last; version++) {
                // A field that is gone in a later version has its default in an earlier one.
                try {
                    JsonNode node = (JsonNode) converter.invoke(null, blank, version);
                    ((ObjectNode) node).fields().forEachRemaining(e -> defaults.set(e.getKey(), e.getValue()));
                } catch (InvocationTargetException error) {
                    if (!(error.getCause() instanceof UnsupportedVersionException)) {
                        throw error;
                    }
                }
            }
            ObjectNode line = JsonNodeFactory.instance.objectNode();
            line.put("m", title);
            line.set("defaults", defaults);
            out.println(line);
        }

        private void verdict(short version, byte[] bytes) throws Exception {
            ObjectNode line = line(version, bytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            try {
                Message message = read(buffer, version);
                line.put("left", buffer.remaining());
                line.set("json", json(message, version));
            } catch (RuntimeException error) {
                line.put("error", String.valueOf(error.getMessage()));
            }
            out.println(line);
        }

        private ObjectNode line(short version, byte[] bytes) {
            ObjectNode line = JsonNodeFactory.instance.objectNode();
            line.put("m", name);
            line.put("v", version);
            line.put("hex", HEX.formatHex(bytes));
            return line;
        }

        private Message read(ByteBuffer buffer, short version) throws Exception {
            Message message = (Message) data.getConstructor().newInstance();
            message.read(new ByteBufferAccessor(buffer), version);
            return message;
        }

        private byte[] write(Message message, short version) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
            message.write(new ByteBufferAccessor(buffer), cache, version);
            if (buffer.hasRemaining()) {
                throw new IllegalStateException(name + " v" + version + " is smaller than it says");
            }
            return buffer.array();
        }

        private JsonNode json(Message message, short version) throws Exception {
            return (JsonNode) toJson.invoke(null, message, version);
        }
    }

    /** Values by type. Shape 0: zeros, empty, no tags. 1: extremes and small arrays. 2: long arrays at the leaves. */
    private static final class Values {
        private static final String[] TEXTS = {"", "a", "topic-1", "ü漢😀", "g,h:i", "x".repeat(126), "y".repeat(127),
            "z".repeat(128), "w".repeat(300), "\0", "null"};
        private final Random random;
        int shape;
        boolean brief;

        Values(Random random) {
            this.random = random;
        }

        Struct struct(Schema schema, int depth) {
            Struct made = new Struct(schema);
            for (BoundField field : schema.fields()) {
                made.set(field, value(field.def.type, depth));
            }
            return made;
        }

        private Object value(Type type, int depth) {
            if (type instanceof TaggedFields) {
                return tags((TaggedFields) type, depth);
            }
            if (type.isNullable() && shape > 0 && random.nextInt(4) == 0) {
                return null;
            }
            if (type instanceof Schema) {
                return shape == 0 && type.isNullable() ? null : struct((Schema) type, depth);
            }
            if (type instanceof ArrayOf || type instanceof CompactArrayOf) {
                return array(type.arrayElementType().get(), depth);
            }
            return primitive(type);
        }

        private Object tags(TaggedFields type, int depth) {
            Map<Integer, Object> chosen = new TreeMap<>();
            for (Map.Entry<Integer, Field> entry : type.fields().entrySet()) {
                Type inner = entry.getValue().type;
                if (shape > 0 && random.nextInt(3) > 0) {
                    // A null structure is the one thing that Schema writes otherwise than the generated classes do.
                    Object value = inner instanceof Schema ? struct((Schema) inner, depth + 1) : value(inner, depth + 1);
                    chosen.put(entry.getKey(), value);
                }
            }
            return chosen;
        }

        private Object[] array(Type element, int depth) {
            int count = 0;
            if (shape == 1) {
                count = depth == 0 ? 1 + random.nextInt(2) : random.nextInt(3);
            } else if (shape == 2) {
                count = isLeaf(element) ? (random.nextInt(12) == 0 ? 128 : 9) : 1;
            }
            Object[] made = new Object[count];
            Arrays.setAll(made, i -> value(element, depth + 1));
            return made;
        }

        private static boolean isLeaf(Type type) {
            if (!(type instanceof Schema)) {
                return true;
            }
            for (BoundField field : ((Schema) type).fields()) {
                if (field.def.type.isArray() || field.def.type instanceof Schema) {
                    return false;
                }
            }
            return true;
        }

        private Object primitive(Type type) {
            String name = type.toString();
            switch (name) {
                case "BOOLEAN":
                    return shape > 0 && random.nextBoolean();
                case "INT8":
                    return (byte) integer(8);
                case "INT16":
                    return (short) integer(16);
                case "UINT16":
                    return (int) integer(16) & 0xFFFF;
                case "INT32":
                    return (int) integer(32);
                case "UINT32":
                    return integer(32) & 0xFFFFFFFFL;
                case "INT64":
                    return integer(64);
                case "UUID":
                    return shape == 0 ? Uuid.ZERO_UUID : new Uuid(integer(64), integer(64));
                case "FLOAT64":
                    return shape == 0 ? 0.0 : random.nextInt(1000) / 7.0 * (random.nextBoolean() ? 1 : -1);
                default:
                    return variable(name);
            }
        }

        private Object variable(String name) {
            if (name.endsWith("STRING")) {
                return shape == 0 ? "" : TEXTS[random.nextInt(shape == 2 || brief ? 5 : TEXTS.length)];
            }
            byte[] bytes = new byte[shape == 0 ? 0 : new int[] {0, 1, 3, 127, 128}[random.nextInt(brief ? 3 : 5)]];
            Arrays.fill(bytes, (byte) random.nextInt(256));
            if (name.endsWith("BYTES")) {
                return ByteBuffer.wrap(bytes);
            }
            if (name.endsWith("RECORDS")) {
                return MemoryRecords.readableRecords(ByteBuffer.wrap(bytes));
            }
            throw new IllegalStateException("no value for " + name);
        }

        private long integer(int bits) {
            if (shape == 0) {
                return 0;
            }
            long most = bits == 64 ? Long.MAX_VALUE : (1L << (bits - 1)) - 1;
            switch (random.nextInt(shape == 1 ? 7 : 12)) {
                case 0:
                    return -1;
                case 1:
                    return most;
                case 2:
                    return -most - 1;
                case 3:
                    return random.nextLong() >> (64 - bits);
                default:
                    return random.nextInt(120);
            }
        }
    }

    /** Damage of many kinds; the same kinds in the same order for every message. */
    private static final class Mutations {
        private static final byte[][] INSERTS = {
            {(byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x0F},
            {(byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, 0x07},
            {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x01},
            {0x7F, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF},
            {(byte) 0xFF, (byte) 0xFE},
            {(byte) 0x80, 0x00},
            {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
            {(byte) 0xC0, (byte) 0x80},
        };
        private final Random random;

        Mutations(Random random) {
            this.random = random;
        }

        byte[] of(byte[] good, int variant) {
            byte[] bytes = good.clone();
            int at = bytes.length == 0 ? 0 : random.nextInt(bytes.length);
            switch (variant % 8) {
                case 0:
                    return Arrays.copyOf(bytes, at);
                case 1:
                    return tagged(bytes);
                case 2:
                    return set(bytes, at, (byte) (bytes.length == 0 ? 0 : bytes[at] + (random.nextBoolean() ? 1 : -1)));
                case 3:
                    return replace(bytes, at, INSERTS[random.nextInt(INSERTS.length)], true);
                case 4:
                    return set(bytes, at, (byte) random.nextInt(256));
                case 5:
                    return replace(bytes, at, INSERTS[random.nextInt(INSERTS.length)], false);
                case 6:
                    return set(set(bytes, at, (byte) 0xFF), at + 1, (byte) 0xFF);
                default:
                    return set(bytes, at, (byte) (random.nextBoolean() ? 0 : 0x80));
            }
        }

        /** Where the message ends with an empty tag section: tags in it, known or not, and of any size. */
        private byte[] tagged(byte[] bytes) {
            byte[] tags = {(byte) (1 + random.nextInt(2)), (byte) random.nextInt(4), (byte) random.nextInt(4), 0, 1, 1, 0};
            int size = random.nextInt(tags.length) + 1;
            int keep = Math.max(0, bytes.length - 1);
            byte[] made = Arrays.copyOf(bytes, keep + size);
            System.arraycopy(tags, 0, made, keep, size);
            return made;
        }

        private static byte[] set(byte[] bytes, int at, byte value) {
            if (at < bytes.length) {
                bytes[at] = value;
            }
            return bytes;
        }

        private static byte[] replace(byte[] bytes, int at, byte[] with, boolean insert) {
            int from = insert ? at : Math.min(bytes.length, at + with.length);
            byte[] made = new byte[at + with.length + bytes.length - from];
            System.arraycopy(bytes, 0, made, 0, at);
            System.arraycopy(with, 0, made, at, with.length);
            System.arraycopy(bytes, from, made, at + with.length, bytes.length - from);
            return made;
        }
    }
}
