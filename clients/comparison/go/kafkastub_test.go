package comparison

import (
	"testing"
	"time"

	"github.com/kafkastub/kafkastub-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

const day = 24 * time.Hour

func start(t *testing.T) (*kafkastub.Stub, []string) {
	t.Helper()
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 2), kafkastub.WithConfig("group.initial.rebalance.delay.ms", 0))
	return stub, []string{stub.BootstrapServers}
}

func TestKafkastubARecordArrives(t *testing.T) {
	_, servers := start(t)
	send(t, connect(t, servers), "two teapots")
	expect(t, member(t, servers, "one"), "two teapots")
}

func TestKafkastubAnOffsetExpires(t *testing.T) {
	stub, servers := start(t)
	stub.Clock.Freeze(t.Context())
	client := connect(t, servers)
	commit(t, client, 5)
	stub.Clock.Advance(t.Context(), 7*day-time.Millisecond)
	expectCommitted(t, client, 5)
	stub.Clock.Advance(t.Context(), time.Millisecond)
	expectCommitted(t, client, -1)
}

func TestKafkastubACommitIsRefusedOnce(t *testing.T) {
	stub, servers := start(t)
	rule := kafkastub.Rule{API: "OffsetCommit", Error: "NOT_COORDINATOR", Times: new(1)}
	fault, err := stub.Faults.Add(t.Context(), rule)
	check(t, err)
	client := connect(t, servers)
	commit(t, client, 5)
	_, err = fault.WaitHits(t.Context(), 1)
	check(t, err)
	expectCommitted(t, client, 5)
}

func TestKafkastubTwoConsumersSharePartitions(t *testing.T) {
	stub, servers := start(t)
	member(t, servers, "one")
	member(t, servers, "two")
	_, err := stub.Groups.WaitAssigned(t.Context(), "shipping", kafkastub.WantedAssignment{
		Assignment: map[string][]kafkastub.PlaceGiven{
			"one": {{Topic: "orders", Partition: 0}},
			"two": {{Topic: "orders", Partition: 1}},
		},
	})
	check(t, err)
}

func TestKafkastubATransactionIsCutOff(t *testing.T) {
	stub, servers := start(t)
	producer := connect(t, servers, kgo.TransactionalID("shop"))
	check(t, producer.BeginTransaction())
	send(t, producer, "two teapots")
	stub.Clock.AdvanceTimers(t.Context(), time.Minute)
	send(t, connect(t, servers), "a cup")
	reader := connect(t, servers, kgo.ConsumeTopics("orders"), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	expect(t, reader, "a cup")
}
