package comparison;

import io.kafkastub.KafkaStub;
import io.kafkastub.junit.KafkaStubTest;
import io.kafkastub.junit.Scope;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/** 200 tests that share a broker, each with a topic of its own. */
@KafkaStubTest(scope = Scope.CLASS)
class KafkaStubSharedTest {
    @RepeatedTest(200)
    void aRecordArrives(KafkaStub kafka, RepetitionInfo repetition) {
        String topic = "orders-" + repetition.getCurrentRepetition();
        kafka.topics().create(topic, 1);
        Many.aRecordArrives(kafka.bootstrapServers(), topic);
    }
}
