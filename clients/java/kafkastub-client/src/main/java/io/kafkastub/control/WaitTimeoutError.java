package io.kafkastub.control;

/** What a test waited for has not happened in time. The message says what the broker has seen last. */
public class WaitTimeoutError extends AssertionError {
    private static final long serialVersionUID = 1L;

    /**
     * @param sentence what was waited for, and what was seen last
     */
    public WaitTimeoutError(String sentence) {
        super(sentence);
    }
}
