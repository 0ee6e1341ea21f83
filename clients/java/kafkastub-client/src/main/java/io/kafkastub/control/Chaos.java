package io.kafkastub.control;

import io.kafkastub.model.ChaosInfo;
import io.kafkastub.model.ChaosPlan;

/** Faults that a seed decides, and that every correct client survives (docs/chaos.md). */
public final class Chaos {
    private final Port port;

    Chaos(Port port) {
        this.port = port;
    }

    /** From now on requests meet what the seed decides, at level 1: errors and late answers. */
    public ChaosInfo start(long seed) {
        return start(new ChaosPlan().seed(seed));
    }

    /** From now on requests meet what the seed decides; level 2 adds lost answers and moves, 3 nodes that stop. */
    public ChaosInfo start(long seed, int level) {
        return start(new ChaosPlan().seed(seed).level(level));
    }

    /** From now on requests meet what the plan says. A plan that there was is over. */
    public ChaosInfo start(ChaosPlan plan) {
        return port.call(Route.PUT_CHAOS).fields(plan).as(ChaosInfo.class);
    }

    /** Return the seed, and what chaos has done. */
    public ChaosInfo state() {
        return port.call(Route.GET_CHAOS).as(ChaosInfo.class);
    }

    /** End it; nodes that it has stopped come back. */
    public ChaosInfo stop() {
        return port.call(Route.DELETE_CHAOS).as(ChaosInfo.class);
    }
}
