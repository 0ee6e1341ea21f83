package io.kafkastub.control;

import io.kafkastub.model.QuotaChange;
import io.kafkastub.model.QuotaInfo;
import io.kafkastub.model.QuotaList;
import java.util.List;

/** Quotas of users, client ids and addresses (docs/quotas.md). */
public final class Quotas {
    private final Port port;

    Quotas(Port port) {
        this.port = port;
    }

    /** All quotas, 1,000 at most. */
    public List<QuotaInfo> list() {
        return port.call(Route.GET_QUOTAS).as(QuotaList.class).quotas();
    }

    /** So many quotas at most. */
    public List<QuotaInfo> list(int limit) {
        return port.call(Route.GET_QUOTAS)
                .query("limit", limit)
                .as(QuotaList.class)
                .quotas();
    }

    /** Set and remove quotas; those that are not named stay. */
    public QuotaInfo alter(QuotaChange change) {
        return port.call(Route.POST_QUOTAS).fields(change).as(QuotaInfo.class);
    }
}
