package io.kafkastub.model;

/**
 * A header of a record.
 *
 * @param name its name
 * @param value its value, or null
 */
public record RecordHeader(String name, RecordData value) {}
