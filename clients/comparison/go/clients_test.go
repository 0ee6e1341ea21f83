package comparison

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What both sides have in common: a client, and what it does.

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect(t *testing.T, servers []string, more ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(more, kgo.SeedBrokers(servers...), kgo.FetchMaxWait(20*time.Millisecond))...)
	check(t, err)
	t.Cleanup(client.Close)
	return client
}

func member(t *testing.T, servers []string, id string) *kgo.Client {
	t.Helper()
	return connect(t, servers, kgo.ClientID(id), kgo.ConsumerGroup("shipping"), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.Balancers(kgo.RangeBalancer()),
		kgo.HeartbeatInterval(50*time.Millisecond))
}

func send(t *testing.T, client *kgo.Client, value string) {
	t.Helper()
	record := &kgo.Record{Topic: "orders", Key: []byte("7"), Value: []byte(value)}
	check(t, client.ProduceSync(t.Context(), record).FirstErr())
}

// expect reads records, which have to be these.
func expect(t *testing.T, client *kgo.Client, values ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var found []string
	for len(found) < len(values) && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(record *kgo.Record) { found = append(found, string(record.Value)) })
	}
	if !slices.Equal(found, values) {
		t.Fatalf("read %q, not %q", found, values)
	}
}

func commit(t *testing.T, client *kgo.Client, offset int64) {
	t.Helper()
	offsets := make(kadm.Offsets)
	offsets.AddOffset("orders", 0, offset, -1)
	check(t, kadm.NewClient(client).CommitAllOffsets(t.Context(), "shipping", offsets))
}

// expectCommitted compares the group's offset, -1 where there is none.
func expectCommitted(t *testing.T, client *kgo.Client, wanted int64) {
	t.Helper()
	offsets, err := kadm.NewClient(client).FetchOffsets(t.Context(), "shipping")
	check(t, err)
	found := int64(-1)
	if offset, there := offsets.Lookup("orders", 0); there {
		found = offset.At
	}
	if found != wanted {
		t.Fatalf("%d is committed, not %d", found, wanted)
	}
}
