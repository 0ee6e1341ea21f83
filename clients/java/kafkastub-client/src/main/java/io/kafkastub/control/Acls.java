package io.kafkastub.control;

import io.kafkastub.model.AccessInfo;
import io.kafkastub.model.AclFilter;
import io.kafkastub.model.AclInfo;
import io.kafkastub.model.AclList;
import io.kafkastub.model.AclOperation;
import io.kafkastub.model.AclResourceType;
import io.kafkastub.model.NewAcl;
import io.kafkastub.model.RemovedAcls;

/** ACLs (docs/security.md). */
public final class Acls {
    private final Port port;

    Acls(Port port) {
        this.port = port;
    }

    /** Add an entry; one that exists is no error. */
    public AclInfo add(NewAcl acl) {
        return port.call(Route.POST_ACLS).fields(acl).as(AclInfo.class);
    }

    /** All entries, and how the broker authorizes. */
    public AclList list() {
        return list(new AclFilter());
    }

    /** The entries that match. */
    public AclList list(AclFilter filter) {
        return port.call(Route.GET_ACLS).query(filter).as(AclList.class);
    }

    /** Remove the entries that match; returns how many these were. */
    public long remove(AclFilter filter) {
        return port.call(Route.DELETE_ACLS).query(filter).as(RemovedAcls.class).removed();
    }

    /** Whether a principal ({@code User:alice}) may do something from 127.0.0.1, and the entries about it. */
    public AccessInfo access(String principal, AclOperation operation, AclResourceType type, String name) {
        return access(principal, "127.0.0.1", operation, type, name);
    }

    /** Whether a principal may do something from an address, and the entries about it. */
    public AccessInfo access(String principal, String host, AclOperation operation, AclResourceType type, String name) {
        return port.call(Route.GET_ACLS_ACCESS)
                .query("principal", principal)
                .query("host", host)
                .query("operation", operation.text())
                .query("resource_type", type.text())
                .query("resource_name", name)
                .as(AccessInfo.class);
    }
}
