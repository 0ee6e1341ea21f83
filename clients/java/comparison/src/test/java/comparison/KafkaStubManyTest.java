package comparison;

import io.kafkastub.KafkaStub;
import io.kafkastub.junit.KafkaStubTest;
import org.junit.jupiter.api.RepeatedTest;

/** 200 tests, each with a broker of its own. */
@KafkaStubTest(topics = "orders")
class KafkaStubManyTest {
    @RepeatedTest(200)
    void aRecordArrives(KafkaStub kafka) {
        Many.aRecordArrives(kafka.bootstrapServers(), "orders");
    }
}
