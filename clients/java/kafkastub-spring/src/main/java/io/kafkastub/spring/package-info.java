/** Kafka brokers for tests with Spring: {@link io.kafkastub.spring.AutoConfigureKafkaStub}. */
package io.kafkastub.spring;
