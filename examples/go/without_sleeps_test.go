package orders

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/kafkastub/kafkastub-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const day = 24 * time.Hour

// These tests share a broker: each begins with two orders, and a group that has committed nothing.
func TestWithoutSleeps(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 1), kafkastub.WithConfig("group.initial.rebalance.delay.ms", 0))
	broker := stub.BootstrapServers
	producer := connect(t, broker, "shop")
	if err := producer.ProduceSync(ctx, kgo.StringRecord("two teapots"), kgo.StringRecord("a cup")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	must(t)(stub.Topics.WaitRecords(ctx, "orders", 2))
	must(t)(stub.Snapshots.Take(ctx, "seed"))

	begin := func(t *testing.T) {
		t.Helper()
		must(t)(stub.Snapshots.Restore(ctx, "seed"))
		if offset := committed(t, ctx, broker); offset != -1 {
			t.Fatalf("%d is committed at the start", offset)
		}
	}

	t.Run("OrdersAreShipped", func(t *testing.T) {
		begin(t)
		worker := connect(t, broker, "worker", kgo.ConsumerGroup("shipping"), kgo.ConsumeTopics("orders"),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
		go func() {
			for !worker.PollFetches(ctx).IsClientClosed() {
				worker.CommitUncommittedOffsets(ctx)
			}
		}()
		must(t)(stub.Groups.WaitStable(ctx, "shipping", 1))
		must(t)(stub.Groups.WaitLag(ctx, "shipping", "orders", 0))
		must(t)(stub.Journal.WaitQuiet(ctx, 50*time.Millisecond))
	})

	t.Run("TheSlowOneOverwritesWhatTheFastOneCommitted", func(t *testing.T) {
		begin(t)
		door, err := stub.Faults.Add(ctx, kafkastub.Rule{API: "OffsetCommit", ClientID: "slow", Hold: "before"})
		check(t, err)
		defer door.Remove(ctx)
		client, slow := connect(t, broker, "slow"), make(chan error, 1)
		go func() { slow <- commit(ctx, client, 1) }()
		must(t)(door.WaitHeld(ctx, 1))
		check(t, commit(ctx, connect(t, broker, "fast"), 2))
		if offset := committed(t, ctx, broker); offset != 2 {
			t.Fatalf("%d is committed while the slow one is held", offset)
		}
		must(t)(door.Release(ctx))
		check(t, <-slow)
		if offset := committed(t, ctx, broker); offset != 1 {
			t.Fatalf("%d is committed, not what the slow one committed", offset)
		}
	})

	t.Run("AnIdleGroupSurvivesTheWeekendAndNotAWeek", func(t *testing.T) {
		begin(t)
		must(t)(stub.Clock.Freeze(ctx))
		check(t, commit(ctx, connect(t, broker, "shop"), 1))
		must(t)(stub.Clock.Advance(ctx, 3*day))
		if offset := committed(t, ctx, broker); offset != 1 {
			t.Fatalf("%d is committed after a weekend", offset)
		}
		must(t)(stub.Clock.Advance(ctx, 4*day))
		if offset := committed(t, ctx, broker); offset != -1 {
			t.Fatalf("%d is committed after a week", offset)
		}
	})

	t.Run("WhatIsRefusedSaysWhy", func(t *testing.T) {
		begin(t)
		var refused *kafkastub.Refused
		if _, err := stub.Snapshots.Restore(ctx, "no such"); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
			t.Fatalf("it was restored: %v", err)
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must is check for what gives a value, too, which is of no interest.
func must(t *testing.T) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		check(t, err)
	}
}

func connect(t *testing.T, broker, id string, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	options := append(more, kgo.SeedBrokers(broker), kgo.ClientID(id), kgo.DefaultProduceTopic("orders"))
	client, err := kgo.NewClient(options...)
	check(t, err)
	t.Cleanup(client.Close)
	return client
}

func commit(ctx context.Context, client *kgo.Client, offset int64) error {
	offsets := make(kadm.Offsets)
	offsets.AddOffset("orders", 0, offset, -1)
	return kadm.NewClient(client).CommitAllOffsets(ctx, "shipping", offsets)
}

// committed is the offset of the group, -1 where there is none.
func committed(t *testing.T, ctx context.Context, broker string) int64 {
	t.Helper()
	offsets, err := kadm.NewClient(connect(t, broker, "reader")).FetchOffsets(ctx, "shipping")
	check(t, err)
	offset, there := offsets.Lookup("orders", 0)
	if !there {
		return -1
	}
	return offset.At
}
