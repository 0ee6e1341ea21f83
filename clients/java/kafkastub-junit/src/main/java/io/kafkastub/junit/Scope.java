package io.kafkastub.junit;

/** How long a stub lives. */
public enum Scope {
    /** Each test has its own, also where tests run in parallel. */
    TEST,
    /** The tests of a class share one, with those of its nested classes. */
    CLASS,
    /** All tests of a run with the same settings share one. */
    RUN
}
