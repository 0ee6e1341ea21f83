/** {@link io.kafkastub.KafkaStub}: a Kafka broker for tests, started from Java. */
package io.kafkastub;
