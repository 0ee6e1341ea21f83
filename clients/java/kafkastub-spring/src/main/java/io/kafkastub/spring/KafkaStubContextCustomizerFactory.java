package io.kafkastub.spring;

import io.kafkastub.KafkaStub;
import java.util.List;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Finds {@link AutoConfigureKafkaStub} on a test class. Spring knows it by {@code META-INF/spring.factories}. */
final class KafkaStubContextCustomizerFactory implements ContextCustomizerFactory {
    KafkaStubContextCustomizerFactory() {}

    @Override
    public ContextCustomizer createContextCustomizer(Class<?> test, List<ContextConfigurationAttributes> attributes) {
        AutoConfigureKafkaStub found =
                TestContextAnnotationUtils.findMergedAnnotation(test, AutoConfigureKafkaStub.class);
        return found == null ? null : new KafkaStubContextCustomizer(builder(found));
    }

    private static KafkaStub.Builder builder(AutoConfigureKafkaStub annotation) {
        KafkaStub.Builder stub = KafkaStub.builder().topics(annotation.topics());
        for (String one : annotation.config()) {
            int equals = one.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("@AutoConfigureKafkaStub: config '" + one + "' is not NAME=VALUE");
            }
            stub.config(
                    one.substring(0, equals).trim(), one.substring(equals + 1).trim());
        }
        if (!annotation.profile().equals("kips")) {
            stub.profile(annotation.profile());
        }
        if (!annotation.asVersion().isEmpty()) {
            stub.asVersion(annotation.asVersion());
        }
        if (annotation.nodes() != 1) {
            stub.nodes(annotation.nodes());
        }
        if (annotation.registry()) {
            stub.registry();
        }
        return stub;
    }
}
