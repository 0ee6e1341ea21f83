package io.kafkastub.spring;

import io.kafkastub.KafkaStub;
import java.util.HashMap;
import java.util.Map;
import org.springframework.beans.factory.support.DefaultSingletonBeanRegistry;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.util.ClassUtils;

/**
 * Starts a stub for an application context, and ends it with the context. Two with the same settings are equal: that is
 * how Spring knows that two test classes can share a context.
 */
record KafkaStubContextCustomizer(KafkaStub.Builder settings) implements ContextCustomizer {
    private static final String BEAN = "kafkaStub";
    private static final String BOOT_3 = "org.springframework.boot.autoconfigure.kafka.KafkaConnectionDetails";
    private static final String BOOT_4 = "org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails";

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration merged) {
        KafkaStub stub = settings.start();
        var beans = (DefaultSingletonBeanRegistry) context.getBeanFactory();
        beans.registerSingleton(BEAN, stub);
        beans.registerDisposableBean(BEAN, stub::close);
        Map<String, Object> properties = new HashMap<>();
        properties.put("kafkastub.bootstrap-servers", stub.bootstrapServers());
        if (stub.registryUrl() != null) {
            properties.put("kafkastub.registry-url", stub.registryUrl());
        }
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("kafkastub", properties));
        ClassLoader loader = context.getClassLoader();
        if (ClassUtils.isPresent(BOOT_3, loader)) {
            beans.registerSingleton("kafkaStubConnectionDetails", Boot3ConnectionDetails.of(stub));
        } else if (ClassUtils.isPresent(BOOT_4, loader)) {
            beans.registerSingleton("kafkaStubConnectionDetails", Boot4ConnectionDetails.of(stub));
        }
    }
}
