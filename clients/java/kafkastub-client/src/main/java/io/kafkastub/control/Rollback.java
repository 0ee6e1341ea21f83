package io.kafkastub.control;

/** A snapshot to which the broker goes back when this is closed. */
public final class Rollback implements AutoCloseable {
    private final Snapshots snapshots;
    private final String id;

    Rollback(Snapshots snapshots, String id) {
        this.snapshots = snapshots;
        this.id = id;
    }

    /** Put the broker back to what it was, and delete the snapshot. */
    @Override
    public void close() {
        snapshots.restore(id);
        snapshots.delete(id);
    }
}
