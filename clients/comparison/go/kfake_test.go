package comparison

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func cluster(t *testing.T, more ...kfake.Opt) (*kfake.Cluster, []string) {
	t.Helper()
	options := append(more, kfake.NumBrokers(1), kfake.SeedTopics(2, "orders"),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	cluster, err := kfake.NewCluster(options...)
	check(t, err)
	t.Cleanup(cluster.Close)
	return cluster, cluster.ListenAddrs()
}

func TestKfakeARecordArrives(t *testing.T) {
	_, servers := cluster(t)
	send(t, connect(t, servers), "two teapots")
	expect(t, member(t, servers, "one"), "two teapots")
}

// The clock of synctest moves when every goroutine waits: client and cluster are in this process, without sockets.
func TestKfakeAnOffsetExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		cluster, servers := cluster(t, kfake.ListenFn(network.Listen))
		client := connect(t, servers, kgo.Dialer(network.DialContext))
		commit(t, client, 5)
		time.Sleep(7*day - 10*time.Minute)
		expectCommitted(t, client, 5)
		time.Sleep(20 * time.Minute) // it looks every ten minutes
		if group := cluster.GroupInfo("shipping"); group != nil {
			t.Fatalf("the group has %v", group.Commits)
		}
	})
}

func TestKfakeACommitIsRefusedOnce(t *testing.T) {
	cluster, servers := cluster(t)
	fault := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.NotCoordinator})
	client := connect(t, servers)
	commit(t, client, 5)
	if fault.Hits() != 1 {
		t.Fatalf("%d commits were refused", fault.Hits())
	}
	expectCommitted(t, client, 5)
}

func TestKfakeTwoConsumersSharePartitions(t *testing.T) {
	cluster, servers := cluster(t)
	member(t, servers, "one")
	member(t, servers, "two")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := cluster.WaitGroupInfo(ctx, "shipping", func(group *kfake.GroupInfo) bool {
		found := map[string]int32{}
		if group != nil {
			for _, member := range group.Members {
				if partitions := member.Assignment["orders"]; len(partitions) == 1 {
					found[member.ClientID] = partitions[0]
				}
			}
		}
		return len(found) == 2 && found["one"] == 0 && found["two"] == 1
	})
	check(t, err)
}

func TestKfakeATransactionIsCutOff(t *testing.T) {
	_, servers := cluster(t)
	producer := connect(t, servers, kgo.TransactionalID("shop"), kgo.TransactionTimeout(time.Second))
	check(t, producer.BeginTransaction())
	send(t, producer, "two teapots")
	send(t, connect(t, servers), "a cup")
	reader := connect(t, servers, kgo.ConsumeTopics("orders"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	expect(t, reader, "a cup")
}
