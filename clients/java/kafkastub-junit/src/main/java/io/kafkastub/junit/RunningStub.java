package io.kafkastub.junit;

import io.kafkastub.KafkaStub;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A stub in a store of JUnit, which closes it. Of the two interfaces, JUnit 5 knows the one and later ones the other.
 */
@SuppressWarnings("deprecation")
final class RunningStub implements ExtensionContext.Store.CloseableResource, AutoCloseable {
    final KafkaStub stub;

    RunningStub(KafkaStub stub) {
        this.stub = stub;
    }

    @Override
    public void close() {
        stub.close();
    }
}
