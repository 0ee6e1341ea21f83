package io.kafkastub.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Tests of a Spring application with a Kafka broker, to which Spring Boot connects by itself.
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureKafkaStub(topics = "orders:3")
 * class ShippingTest {
 *     @Autowired
 *     KafkaStub kafka;
 * }
 * }</pre>
 *
 * <p>The stub lives as long as the application context, which Spring keeps for all test classes with the same
 * configuration. It is a bean of type {@link io.kafkastub.KafkaStub}. The properties {@code
 * kafkastub.bootstrap-servers} and {@code kafkastub.registry-url} are there without Spring Boot, too. When a test
 * fails, the requests that the stub was asked meanwhile are printed on standard error.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface AutoConfigureKafkaStub {
    /** Topics that exist from the start: NAME:PARTITIONS, or NAME for one partition. */
    String[] topics() default {};

    /** Kafka's broker configuration: NAME=VALUE each. */
    String[] config() default {};

    /** {@code kips} or {@code kafka} (docs/profiles.md). */
    String profile() default "kips";

    /** The release of Apache Kafka that is advertised, 2.1 to 4.4; "" for the newest (docs/as-version.md). */
    String asVersion() default "";

    /** The number of nodes of the cluster. */
    int nodes() default 1;

    /** Whether to start a schema registry, too. */
    boolean registry() default false;
}
