package orders

import (
	"context"
	"testing"
	"time"

	"github.com/kafkastub/kafkastub-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The example of docs/go.md, with clients around it: two workers that commit again and again.
func TestTheClockAFaultAndWaits(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 2), kafkastub.WithConfig("group.initial.rebalance.delay.ms", 0))
	for partition := range 2 {
		must(t)(stub.Topics.Produce(ctx, "orders", kafkastub.GivenRecord{Partition: &partition, Value: "two teapots"}))
	}
	for _, id := range []string{"one", "two"} {
		go ship(ctx, connect(t, stub.BootstrapServers, id, kgo.ConsumerGroup("shipping"), kgo.ConsumeTopics("orders"),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit()))
	}
	must(t)(stub.Groups.WaitLag(ctx, "shipping", "orders", 0))

	stub.Clock.Advance(ctx, 7*24*time.Hour) // offsets expire
	door, err := stub.Faults.Add(ctx, kafkastub.Rule{API: "OffsetCommit", Hold: "before", Times: new(1)})
	check(t, err)
	_, err = door.WaitHeld(ctx, 1) // a commit waits
	check(t, err)
	_, err = door.Release(ctx)
	check(t, err)
	_, err = stub.Groups.WaitStable(ctx, "shipping", 2) // two members share the partitions
	check(t, err)
	_, err = stub.Groups.WaitLag(ctx, "shipping", "orders", 0)
	check(t, err)
}

// ship reads orders, and commits the last one again and again.
func ship(ctx context.Context, worker *kgo.Client) {
	var last []*kgo.Record
	for ctx.Err() == nil {
		poll, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		if orders := worker.PollFetches(poll).Records(); len(orders) > 0 {
			last = orders
		}
		cancel()
		worker.CommitRecords(ctx, last...)
	}
}
