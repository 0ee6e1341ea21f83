package orders

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"orders/kafkastub"
)

const day = 24 * time.Hour

// These tests share a broker: each begins with two orders, and a group that has committed nothing.
func TestWithoutSleeps(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	broker, control := startControlled(t, "orders:1")
	producer := connect(t, broker, "shop")
	if err := producer.ProduceSync(ctx, kgo.StringRecord("two teapots"), kgo.StringRecord("a cup")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	check(t, control.WaitTopic(ctx, "orders", 2))
	check(t, control.Snapshot(ctx, "seed"))

	begin := func(t *testing.T) {
		t.Helper()
		check(t, control.Restore(ctx, "seed"))
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
		check(t, control.WaitGroup(ctx, "shipping", "Stable", 1))
		check(t, control.WaitLag(ctx, "shipping", "orders", 0))
		check(t, control.WaitQuiet(ctx, 50*time.Millisecond))
	})

	t.Run("TheSlowOneOverwritesWhatTheFastOneCommitted", func(t *testing.T) {
		begin(t)
		door, err := control.AddFault(ctx, kafkastub.Rule{"api": "OffsetCommit", "client_id": "slow", "hold": "before"})
		check(t, err)
		defer door.Remove(ctx)
		client, slow := connect(t, broker, "slow"), make(chan error, 1)
		go func() { slow <- commit(ctx, client, 1) }()
		check(t, door.WaitHeld(ctx, 1))
		check(t, commit(ctx, connect(t, broker, "fast"), 2))
		if offset := committed(t, ctx, broker); offset != 2 {
			t.Fatalf("%d is committed while the slow one is held", offset)
		}
		check(t, door.Release(ctx))
		check(t, <-slow)
		if offset := committed(t, ctx, broker); offset != 1 {
			t.Fatalf("%d is committed, not what the slow one committed", offset)
		}
	})

	t.Run("AnIdleGroupSurvivesTheWeekendAndNotAWeek", func(t *testing.T) {
		begin(t)
		_, err := control.Freeze(ctx)
		check(t, err)
		check(t, commit(ctx, connect(t, broker, "shop"), 1))
		_, err = control.Advance(ctx, 3*day)
		check(t, err)
		if offset := committed(t, ctx, broker); offset != 1 {
			t.Fatalf("%d is committed after a weekend", offset)
		}
		_, err = control.Advance(ctx, 4*day)
		check(t, err)
		if offset := committed(t, ctx, broker); offset != -1 {
			t.Fatalf("%d is committed after a week", offset)
		}
	})

	t.Run("WhatIsRefusedSaysWhy", func(t *testing.T) {
		begin(t)
		var refused *kafkastub.Refused
		if err := control.Restore(ctx, "no such"); !errors.As(err, &refused) || refused.Status != http.StatusNotFound {
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
