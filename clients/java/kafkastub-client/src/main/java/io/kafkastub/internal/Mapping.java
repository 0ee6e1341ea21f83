package io.kafkastub.internal;

import io.kafkastub.model.JournalEntry;
import io.kafkastub.model.RecordData;
import io.kafkastub.model.RecordHeader;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Records made of JSON, by the names of their components. Not for users. */
public final class Mapping {
    private static final Map<Class<?>, Shape> SHAPES = new ConcurrentHashMap<>();

    private Mapping() {}

    /**
     * A value of a type: a record, a list, a map, a number, a string, a point in time.
     *
     * <p>A field that JSON has and the record has not is left out: a later broker may say more. One that JSON has not
     * is null, or zero.
     *
     * @throws IllegalArgumentException if a value is of another type
     */
    public static <T> T read(Object json, Class<T> type) {
        return type.cast(value(json, type));
    }

    /** An ISO 8601 text with a zone as a point in time. */
    public static Instant instant(String text) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.parse(text, Instant::from);
    }

    static Map<String, Object> fields(Record record) {
        var found = new LinkedHashMap<String, Object>();
        Shape shape = shape(record.getClass());
        for (int i = 0; i < shape.names.length; i++) {
            try {
                found.put(shape.names[i], shape.components[i].getAccessor().invoke(record));
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
        return found;
    }

    private static Object value(Object json, Type type) {
        if (type instanceof ParameterizedType) {
            var generic = (ParameterizedType) type;
            Type[] arguments = generic.getActualTypeArguments();
            return generic.getRawType() == List.class ? list(json, arguments[0]) : map(json, arguments[1]);
        }
        if (type == int.class) {
            return json == null ? 0 : Math.toIntExact(((Number) json).longValue());
        }
        if (type == long.class) {
            return json == null ? 0L : ((Number) json).longValue();
        }
        if (type == double.class) {
            return json == null ? 0.0 : ((Number) json).doubleValue();
        }
        if (type == boolean.class) {
            return Boolean.TRUE.equals(json);
        }
        if (json == null || type == Object.class || ((Class<?>) type).isInstance(json)) {
            return type == RecordData.class ? null : json;
        }
        return converted(json, (Class<?>) type);
    }

    private static Object converted(Object json, Class<?> type) {
        if (type == Integer.class && json instanceof Number) {
            return Math.toIntExact(((Number) json).longValue());
        }
        if (type == Double.class && json instanceof Number) {
            return ((Number) json).doubleValue();
        }
        if (type == Instant.class && json instanceof String) {
            return instant((String) json);
        }
        if (type == RecordData.class) {
            return RecordData.of(json);
        }
        if (type == RecordHeader.class && json instanceof List) {
            var pair = (List<?>) json;
            return new RecordHeader((String) pair.get(0), pair.get(1) == null ? null : RecordData.of(pair.get(1)));
        }
        if (type == JournalEntry.class && json instanceof Map) {
            return new JournalEntry(object(json));
        }
        if (type.isRecord() && json instanceof Map) {
            return shape(type).make(object(json));
        }
        throw new IllegalArgumentException(
                "the control port said " + json + " where a " + type.getSimpleName() + " is due");
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }

    private static List<?> list(Object json, Type element) {
        if (json == null) {
            return null;
        }
        var found = new ArrayList<>();
        for (Object one : (List<?>) json) {
            found.add(value(one, element));
        }
        return Collections.unmodifiableList(found);
    }

    private static Map<?, ?> map(Object json, Type element) {
        if (json == null) {
            return null;
        }
        var found = new LinkedHashMap<String, Object>();
        object(json).forEach((name, one) -> found.put(name, value(one, element)));
        return Collections.unmodifiableMap(found);
    }

    private static Shape shape(Class<?> type) {
        return SHAPES.computeIfAbsent(type, Shape::new);
    }

    /** What a record is made of. */
    private static final class Shape {
        private final RecordComponent[] components;
        private final String[] names;
        private final Constructor<?> constructor;

        Shape(Class<?> type) {
            components = type.getRecordComponents();
            names = new String[components.length];
            var types = new Class<?>[components.length];
            for (int i = 0; i < components.length; i++) {
                names[i] = components[i].getName().replaceAll("([A-Z])", "_$1").toLowerCase();
                types[i] = components[i].getType();
            }
            try {
                constructor = type.getDeclaredConstructor(types);
                constructor.setAccessible(true);
            } catch (NoSuchMethodException error) {
                throw new IllegalStateException(error);
            }
        }

        Object make(Map<String, Object> json) {
            var values = new Object[components.length];
            for (int i = 0; i < components.length; i++) {
                values[i] = value(json.get(names[i]), components[i].getGenericType());
            }
            try {
                return constructor.newInstance(values);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }
    }
}
