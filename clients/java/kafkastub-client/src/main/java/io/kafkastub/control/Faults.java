package io.kafkastub.control;

import io.kafkastub.model.FaultList;
import io.kafkastub.model.FaultRule;
import io.kafkastub.model.FaultState;
import io.kafkastub.model.RemovedFaults;
import java.util.List;
import java.util.function.UnaryOperator;

/** Fault rules: which requests get an error, are late, are held or lose their connection (docs/faults.md). */
public final class Faults {
    private final Port port;

    Faults(Port port) {
        this.port = port;
    }

    /** Add a rule: {@code faults.add(rule -> rule.api("OffsetCommit").error("NOT_COORDINATOR").times(1))}. */
    public Fault add(UnaryOperator<FaultRule> rule) {
        return add(rule.apply(new FaultRule()));
    }

    /** Add a rule. It applies until it is closed, or its own limits end it. */
    public Fault add(FaultRule rule) {
        return new Fault(
                port,
                port.call(Route.POST_FAULTS).fields(rule).as(FaultState.class).id());
    }

    /** The rules in the order in which they were added. */
    public List<FaultState> list() {
        return port.call(Route.GET_FAULTS).as(FaultList.class).faults();
    }

    /** The rule of that id; its id is its name, where it has one. */
    public Fault get(String id) {
        return new Fault(
                port,
                port.call(Route.GET_FAULTS_FAULT_ID, id).as(FaultState.class).id());
    }

    /** Remove all fault rules, and release what they hold; returns how many there were. */
    public long clear() {
        return port.call(Route.DELETE_FAULTS).as(RemovedFaults.class).removed();
    }
}
