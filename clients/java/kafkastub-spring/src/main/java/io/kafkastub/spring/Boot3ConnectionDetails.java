package io.kafkastub.spring;

import io.kafkastub.KafkaStub;
import java.util.List;
import org.springframework.boot.autoconfigure.kafka.KafkaConnectionDetails;

/** How Spring Boot 3 is told where a service is. A class that only Spring Boot 3 can load. */
final class Boot3ConnectionDetails {
    private Boot3ConnectionDetails() {}

    static KafkaConnectionDetails of(KafkaStub stub) {
        return () -> List.of(stub.bootstrapServers());
    }
}
