package io.kafkastub.model;

import io.kafkastub.internal.HasFields;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is said to the control port: a body, or a query, of which each method sets a field and returns the same object.
 *
 * @param <T> the class itself
 */
public abstract class Parameters<T extends Parameters<T>> implements HasFields {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    Parameters() {}

    @SuppressWarnings("unchecked")
    final T with(String name, Object value) {
        fields.put(name, value);
        return (T) this;
    }

    @SuppressWarnings("unchecked")
    final T entry(String name, String key, Object value) {
        ((Map<String, Object>) fields.computeIfAbsent(name, key2 -> new LinkedHashMap<String, Object>()))
                .put(key, value);
        return (T) this;
    }

    @Override
    public final Map<String, Object> toMap() {
        return Collections.unmodifiableMap(fields);
    }

    @Override
    public final boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && fields.equals(((Parameters<?>) other).fields);
    }

    @Override
    public final int hashCode() {
        return fields.hashCode();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + fields;
    }
}
