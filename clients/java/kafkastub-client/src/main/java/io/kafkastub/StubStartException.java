package io.kafkastub;

/** A stub has not been started. The message is one sentence that says why, and what to do. */
public class StubStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * @param sentence why, and what to do
     */
    public StubStartException(String sentence) {
        super(sentence);
    }

    /**
     * @param sentence why, and what to do
     * @param cause what has happened below
     */
    public StubStartException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
