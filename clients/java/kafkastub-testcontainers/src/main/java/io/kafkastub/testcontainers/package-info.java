/** The image of kafkastub for Testcontainers: {@link io.kafkastub.testcontainers.KafkaStubContainer}. */
package io.kafkastub.testcontainers;
