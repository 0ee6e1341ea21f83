package io.kafkastub.control;

import io.kafkastub.model.HangingInfo;
import io.kafkastub.model.HangingList;
import io.kafkastub.model.MarkerHold;
import io.kafkastub.model.TransactionInfo;
import io.kafkastub.model.TransactionList;
import io.kafkastub.model.TransactionsQuery;
import java.util.List;

/** Transactions (docs/transactions.md). */
public final class Transactions {
    private final Port port;

    Transactions(Port port) {
        this.port = port;
    }

    /** List transactional ids. */
    public TransactionList list() {
        return list(new TransactionsQuery());
    }

    /** The transactional ids that match. */
    public TransactionList list(TransactionsQuery query) {
        return port.call(Route.GET_TRANSACTIONS).query(query).as(TransactionList.class);
    }

    /** A transactional id, with the partitions of its open transaction and the markers that are under way. */
    public TransactionInfo describe(String transactionalId) {
        return port.call(Route.GET_TRANSACTIONS_TRANSACTIONAL_ID, transactionalId)
                .as(TransactionInfo.class);
    }

    /** Abort the open transaction, as its timeout would. */
    public TransactionInfo abort(String transactionalId) {
        return port.call(Route.POST_TRANSACTIONS_TRANSACTIONAL_ID_ABORT, transactionalId)
                .as(TransactionInfo.class);
    }

    /** Hold the markers of a transactional id from now on: its transactions do not complete. */
    public MarkerHold hold(String transactionalId) {
        return port.call(Route.POST_TRANSACTIONS_TRANSACTIONAL_ID_HOLD, transactionalId)
                .as(MarkerHold.class);
    }

    /** Write the markers that are held. */
    public MarkerHold release(String transactionalId) {
        return port.call(Route.POST_TRANSACTIONS_TRANSACTIONAL_ID_RELEASE, transactionalId)
                .as(MarkerHold.class);
    }

    /** List open transactions that no coordinator will end. */
    public List<HangingInfo> hanging() {
        return port.call(Route.GET_HANGING_TRANSACTIONS).as(HangingList.class).hanging();
    }

    /** Make a transaction that hangs: a record with this value, of a producer that nobody knows. */
    public HangingInfo hang(String topic, int partition, String value) {
        return port.call(Route.POST_HANGING_TRANSACTIONS)
                .field("topic", topic)
                .field("partition", partition)
                .field("value", value)
                .as(HangingInfo.class);
    }

    /** End a transaction that hangs with an abort marker, as an administrator does. */
    public HangingInfo abortHanging(String topic, int partition, long startOffset) {
        return port.call(Route.POST_HANGING_TRANSACTIONS_ABORT)
                .field("topic", topic)
                .field("partition", partition)
                .field("start_offset", startOffset)
                .as(HangingInfo.class);
    }
}
