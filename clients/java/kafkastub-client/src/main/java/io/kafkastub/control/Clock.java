package io.kafkastub.control;

import io.kafkastub.model.ClockState;
import io.kafkastub.model.Forecast;
import io.kafkastub.model.ForecastQuery;
import java.time.Duration;
import java.time.Instant;

/** Broker time: it stamps records and commits, and decides what has expired. */
public final class Clock {
    private final Port port;

    Clock(Port port) {
        this.port = port;
    }

    /** Broker time. */
    public Instant now() {
        return state().now();
    }

    /** Broker time, and whether it stands still. */
    public ClockState state() {
        return port.call(Route.GET_CLOCK).as(ClockState.class);
    }

    /** Stop broker time. */
    public ClockState freeze() {
        return port.call(Route.POST_CLOCK_FREEZE).as(ClockState.class);
    }

    /** Let broker time go on from where it is. */
    public ClockState unfreeze() {
        return port.call(Route.POST_CLOCK_UNFREEZE).as(ClockState.class);
    }

    /** Make it this time. Only a broker without groups and records can go back. */
    public ClockState set(Instant time) {
        return port.call(Route.POST_CLOCK_SET).field("to", time.toEpochMilli()).as(ClockState.class);
    }

    /** Move broker time forward. What expires on the way has expired when this returns; sessions of members go on. */
    public ClockState advance(Duration by) {
        return port.call(Route.POST_CLOCK_ADVANCE)
                .field("milliseconds", by.toMillis())
                .as(ClockState.class);
    }

    /** Move broker time and that of timers forward: sessions, rebalances, transactions and long polls time out, too. */
    public ClockState advanceWithTimers(Duration by) {
        return port.call(Route.POST_CLOCK_ADVANCE)
                .field("milliseconds", by.toMillis())
                .field("timers", true)
                .as(ClockState.class);
    }

    /** What expires in the next seven days if nobody does anything. */
    public Forecast forecast() {
        return forecast(new ForecastQuery());
    }

    /** What expires if nobody does anything. */
    public Forecast forecast(ForecastQuery query) {
        return port.call(Route.GET_CLOCK_FORECAST).query(query).as(Forecast.class);
    }
}
