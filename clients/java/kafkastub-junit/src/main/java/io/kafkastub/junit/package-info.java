/** Kafka brokers for tests with JUnit 5 and 6: {@link io.kafkastub.junit.KafkaStubTest}. */
package io.kafkastub.junit;
