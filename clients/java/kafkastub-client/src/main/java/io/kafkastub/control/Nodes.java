package io.kafkastub.control;

import io.kafkastub.model.Advertised;
import io.kafkastub.model.NewLeader;
import io.kafkastub.model.NodeInfo;
import io.kafkastub.model.NodeList;

/** The nodes of the cluster: who runs, who leads, who coordinates (docs/nodes.md). */
public final class Nodes {
    private final Port port;

    Nodes(Port port) {
        this.port = port;
    }

    /** All nodes, and the partitions without a leader. */
    public NodeList list() {
        return port.call(Route.GET_NODES).as(NodeList.class);
    }

    /** One node. */
    public NodeInfo describe(int node) {
        return port.call(Route.GET_NODES_NODE_ID, node).as(NodeInfo.class);
    }

    /** Add a node, which has no replicas. */
    public NodeInfo add() {
        return add(null);
    }

    /** Add a node in a rack. */
    public NodeInfo add(String rack) {
        return port.call(Route.POST_NODES).field("rack", rack).as(NodeInfo.class);
    }

    /** Stop a node: its connections end, and others lead. */
    public NodeInfo stop(int node) {
        return port.call(Route.POST_NODES_NODE_ID_STOP, node).as(NodeInfo.class);
    }

    /** Let a stopped node come back at the same ports. */
    public NodeInfo start(int node) {
        return port.call(Route.POST_NODES_NODE_ID_START, node).as(NodeInfo.class);
    }

    /** Move the leader of a partition to a running node. */
    public NewLeader moveLeader(String topic, int partition, int node) {
        return port.call(Route.POST_LEADERS)
                .field("topic", topic)
                .field("partition", partition)
                .field("node", node)
                .as(NewLeader.class);
    }

    /** Let a running node coordinate a group. */
    public NewLeader moveGroup(String group, int node) {
        return port.call(Route.POST_COORDINATORS)
                .field("group", group)
                .field("node", node)
                .as(NewLeader.class);
    }

    /** Let a running node coordinate a transactional id. */
    public NewLeader moveTransactionalId(String transactionalId, int node) {
        return port.call(Route.POST_COORDINATORS)
                .field("transactional_id", transactionalId)
                .field("node", node)
                .as(NewLeader.class);
    }

    /** Return the advertised addresses. */
    public Advertised advertised() {
        return port.call(Route.GET_ADVERTISED).as(Advertised.class);
    }

    /** Change the advertised address: HOST:PORT, or LISTENER://HOST:PORT. */
    public Advertised advertise(String address) {
        return port.call(Route.PUT_ADVERTISED).field("address", address).as(Advertised.class);
    }

    /** Tell clients another address of a node from now on. */
    public Advertised advertise(int node, String address) {
        return port.call(Route.PUT_ADVERTISED)
                .field("address", address)
                .field("node", node)
                .as(Advertised.class);
    }
}
