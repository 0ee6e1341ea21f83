package io.kafkastub.spring;

import io.kafkastub.KafkaStub;
import java.util.List;
import org.springframework.boot.kafka.autoconfigure.KafkaConnectionDetails;

/** How Spring Boot 4 is told where a service is. A class that only Spring Boot 4 can load. */
final class Boot4ConnectionDetails {
    private Boot4ConnectionDetails() {}

    static KafkaConnectionDetails of(KafkaStub stub) {
        return () -> List.of(stub.bootstrapServers());
    }
}
