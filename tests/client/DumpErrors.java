import org.apache.kafka.common.protocol.Errors;

/** What Kafka's client says of each error code: CODE|exception|message. */
public final class DumpErrors {
    public static void main(String[] args) {
        for (Errors error : Errors.values()) {
            if (error.exception() != null) {
                System.out.println(error.code() + "|" + error.exception().getClass().getName() + "|" + error.message());
            }
        }
    }
}
