package io.kafkastub.control;

import io.kafkastub.model.FaultState;
import io.kafkastub.model.HeldRequest;
import io.kafkastub.model.ReleasedRequests;
import io.kafkastub.model.RemovedFaults;
import java.time.Duration;
import java.util.List;

/** A fault rule that is there. Closing it removes it: {@code try (Fault fault = stub.faults().add(…)) { … }}. */
public final class Fault implements AutoCloseable {
    private static final int NOT_FOUND = 404;

    private final Port port;
    private final String id;

    Fault(Port port, String id) {
        this.port = port;
        this.id = id;
    }

    /** The rule's name, or {@code fault-1} …. */
    public String id() {
        return id;
    }

    /** The rule, and what has come of it. */
    public FaultState state() {
        return port.call(Route.GET_FAULTS_FAULT_ID, id).as(FaultState.class);
    }

    /** How many requests have met it. */
    public long hits() {
        return state().hits();
    }

    /** The requests that it holds, in the order of their arrival. */
    public List<HeldRequest> held() {
        return state().held();
    }

    /** Wait, for ten seconds at most, until so many requests have met it. */
    public FaultState awaitHits(int hits) {
        return awaitHits(hits, Await.USUAL);
    }

    /**
     * Wait until so many requests have met it.
     *
     * @throws WaitTimeoutError when the time is over
     */
    public FaultState awaitHits(int hits, Duration limit) {
        return port.call(Route.GET_FAULTS_FAULT_ID_WAIT, id).query("hits", hits).until(limit, FaultState.class);
    }

    /** Wait, for ten seconds at most, until it holds so many requests. */
    public FaultState awaitHeld(int held) {
        return awaitHeld(held, Await.USUAL);
    }

    /**
     * Wait until it holds so many requests.
     *
     * @throws WaitTimeoutError when the time is over
     */
    public FaultState awaitHeld(int held, Duration limit) {
        return port.call(Route.GET_FAULTS_FAULT_ID_WAIT, id).query("held", held).until(limit, FaultState.class);
    }

    /** Release all requests that it holds; returns how many these were. */
    public long release() {
        return release(null, null);
    }

    /** Release the first requests that it holds, so many. */
    public long release(int n) {
        return release(n, null);
    }

    /** Release the first request of a connection. */
    public long releaseConnection(long connection) {
        return release(1, connection);
    }

    private long release(Integer n, Long connection) {
        return port.call(Route.POST_FAULTS_FAULT_ID_RELEASE, id)
                .field("n", n)
                .field("connection", connection)
                .as(ReleasedRequests.class)
                .released();
    }

    /** Remove the rule, and release what it holds. One that has gone already is no error. */
    @Override
    public void close() {
        try {
            port.call(Route.DELETE_FAULTS_FAULT_ID, id).as(RemovedFaults.class);
        } catch (RefusedException refused) {
            if (refused.status() != NOT_FOUND) {
                throw refused;
            }
        }
    }
}
