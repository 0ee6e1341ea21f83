package io.kafkastub.control;

import io.kafkastub.model.DeletedSnapshot;
import io.kafkastub.model.SnapshotInfo;
import io.kafkastub.model.SnapshotList;
import java.util.List;

/** The broker's state, kept under a name: topics, records, groups, offsets, transactions and the clock. */
public final class Snapshots {
    private final Port port;

    Snapshots(Port port) {
        this.port = port;
    }

    /** Keep the state as it is now; the broker gives it a name, its {@code id}. */
    public SnapshotInfo take() {
        return port.call(Route.POST_SNAPSHOTS).as(SnapshotInfo.class);
    }

    /** Keep the state as it is now, under a name that is free. */
    public SnapshotInfo take(String id) {
        return port.call(Route.POST_SNAPSHOTS).field("id", id).as(SnapshotInfo.class);
    }

    /** Put the broker back to what it was. Clients are disconnected, and connect again by themselves. */
    public SnapshotInfo restore(String id) {
        return port.call(Route.POST_SNAPSHOTS_SNAPSHOT_ID_RESTORE, id).as(SnapshotInfo.class);
    }

    /** Undo what is done until the result is closed: {@code try (var undo = snapshots.rolledBack())}. */
    public Rollback rolledBack() {
        return new Rollback(this, take().id());
    }

    /** All that are kept, the oldest first. */
    public List<SnapshotInfo> list() {
        return port.call(Route.GET_SNAPSHOTS).as(SnapshotList.class).snapshots();
    }

    /** One of them. */
    public SnapshotInfo describe(String id) {
        return port.call(Route.GET_SNAPSHOTS_SNAPSHOT_ID, id).as(SnapshotInfo.class);
    }

    /** Delete one. */
    public void delete(String id) {
        port.call(Route.DELETE_SNAPSHOTS_SNAPSHOT_ID, id).as(DeletedSnapshot.class);
    }

    /** One as a file: {@code kafkastub serve --snapshot FILE} begins with it, and so does {@link #upload}. */
    public byte[] download(String id) {
        return port.call(Route.GET_SNAPSHOTS_SNAPSHOT_ID_FILE, id).bytes();
    }

    /** Keep what a file has under a name, without putting the broker back to it. */
    public SnapshotInfo upload(String id, byte[] file) {
        return port.call(Route.PUT_SNAPSHOTS_SNAPSHOT_ID_FILE, id).content(file).as(SnapshotInfo.class);
    }
}
