package io.kafkastub.junit;

import io.kafkastub.KafkaStub;
import org.junit.platform.commons.support.ReflectionSupport;

/** What a stub is to be like, and for how long. */
record Settings(KafkaStub.Builder stub, Scope scope, boolean checkGuarantees) {
    static Settings of(KafkaStubTest annotation) {
        KafkaStub.Builder stub = KafkaStub.builder().topics(annotation.topics());
        for (String one : annotation.config()) {
            int equals = one.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("@KafkaStubTest: config '" + one + "' is not NAME=VALUE");
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
        stub = ReflectionSupport.newInstance(annotation.customizer()).apply(stub);
        return new Settings(stub, annotation.scope(), annotation.checkGuarantees());
    }

    Settings withScope(Scope other) {
        return new Settings(stub, other, checkGuarantees);
    }
}
