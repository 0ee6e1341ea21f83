package io.kafkastub.junit;

import io.kafkastub.KafkaStub;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests with a Kafka broker: they, and their {@code @BeforeEach} and {@code @AfterEach} methods, may have parameters of
 * type {@link KafkaStub}, and {@link BootstrapServers @BootstrapServers} String.
 *
 * <pre>{@code
 * @KafkaStubTest(topics = "orders:3")
 * class OrdersTest {
 *     @Test
 *     void anOrderArrives(KafkaStub kafka) { … }
 * }
 * }</pre>
 *
 * <p>On a method, it is in the place of the one on the class. A stub is started by the first parameter that wants it.
 * When a test fails, the requests that the stub was asked are printed on standard error.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(KafkaStubExtension.class)
public @interface KafkaStubTest {
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

    /** How long a stub lives. */
    Scope scope() default Scope.TEST;

    /**
     * Whether a test that passes is to fail if the application did to its records what it should not
     * (docs/guarantees.md).
     */
    boolean checkGuarantees() default false;

    /** A class with a constructor without parameters that sets anything else. */
    Class<? extends UnaryOperator<KafkaStub.Builder>> customizer() default Plain.class;

    /** Sets nothing. */
    final class Plain implements UnaryOperator<KafkaStub.Builder> {
        /** Made by JUnit. */
        public Plain() {}

        @Override
        public KafkaStub.Builder apply(KafkaStub.Builder builder) {
            return builder;
        }
    }
}
