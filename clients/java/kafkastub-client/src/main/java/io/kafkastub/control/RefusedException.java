package io.kafkastub.control;

/** The control port has refused a request. The message is its sentence. */
public class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final String code;

    /**
     * @param sentence why, as the control port has it
     * @param status the status of the answer, 400 or more
     * @param code Kafka's name of the error, where it is Kafka that refuses; else null
     */
    public RefusedException(String sentence, int status, String code) {
        super(sentence + " (status " + status + (code == null ? "" : ", " + code) + ")");
        this.status = status;
        this.code = code;
    }

    /** The status of the answer, 400 or more. */
    public int status() {
        return status;
    }

    /** Kafka's name of the error, such as {@code INVALID_PARTITIONS}; null where the stub itself refuses. */
    public String code() {
        return code;
    }
}
