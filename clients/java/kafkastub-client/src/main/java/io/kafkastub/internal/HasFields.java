package io.kafkastub.internal;

import java.util.Map;

/** An object of JSON that is put together. Not for users. */
public interface HasFields {
    /** The fields that are set, by the names that the control port has. */
    Map<String, Object> toMap();
}
