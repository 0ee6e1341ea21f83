// franz-go plays the scenario.
package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	. "matrix/telling"
)

var ctx = context.Background()

// produce a batch to each partition, from this number on; gives the offsets.
func produce(first int) map[int][]int64 {
	client, err := kgo.NewClient(kgo.SeedBrokers(Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	Check(err)
	defer client.Close()
	var records []*kgo.Record
	for number := first; number < first+Batch; number++ {
		for partition := range Partitions {
			records = append(records, &kgo.Record{
				Topic: Topic, Partition: int32(partition), Value: Value(partition, number),
			})
		}
	}
	Check(client.ProduceSync(ctx, records...).FirstErr())
	offsets := map[int][]int64{}
	for _, record := range records {
		offsets[int(record.Partition)] = append(offsets[int(record.Partition)], record.Offset)
	}
	return offsets
}

type member struct {
	*kgo.Client
	Rows
	lock     sync.Mutex
	assigned []int
	stopped  chan struct{}
}

func join() *member {
	m := &member{stopped: make(chan struct{})}
	gained := func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
		m.lock.Lock()
		defer m.lock.Unlock()
		for _, partition := range topics[Topic] {
			m.assigned = append(m.assigned, int(partition))
		}
	}
	lost := func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
		m.lock.Lock()
		defer m.lock.Unlock()
		m.assigned = slices.DeleteFunc(m.assigned, func(one int) bool { return slices.Contains(topics[Topic], int32(one)) })
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(Brokers()...),
		kgo.ConsumerGroup(Group),
		kgo.ConsumeTopics(Topic),
		kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.OnPartitionsAssigned(gained),
		kgo.OnPartitionsRevoked(lost),
		kgo.OnPartitionsLost(lost),
	)
	Check(err)
	m.Client = client
	go func() {
		defer close(m.stopped)
		for {
			fetches := client.PollFetches(ctx)
			if fetches.IsClientClosed() {
				return
			}
			Check(fetches.Err())
			fetches.EachRecord(func(record *kgo.Record) { m.Add(int(record.Partition), record.Offset, record.Value) })
		}
	}()
	return m
}

func (m *member) partitions() []int {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Sorted(slices.Values(m.assigned))
}

func (m *member) commit(offset int64) {
	offsets := map[int32]kgo.EpochOffset{}
	for _, partition := range m.partitions() {
		offsets[int32(partition)] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	var failed error
	done := func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
		failed = err
	}
	m.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{Topic: offsets}, done)
	Check(failed)
}

func (m *member) leave() {
	m.Close()
	<-m.stopped
}

func main() {
	Tell("produce", map[string]any{"offsets": produce(0)})

	first := join()
	Until("all records", func() bool { return first.Len() >= Batch*Partitions })
	Check(first.CommitUncommittedOffsets(ctx))
	Tell("consume", map[string]any{"records": first.Take()})

	second := join()
	Until("both have partitions", func() bool { return Shared(first.partitions(), second.partitions()) })
	Tell("rebalance", map[string]any{"members": [][]int{first.partitions(), second.partitions()}})
	produce(Batch)
	Until("the second batch", func() bool { return first.Len()+second.Len() >= Batch*Partitions })
	Tell("share", map[string]any{"records": []any{first.Take(), second.Take()}})
	first.commit(Middle)
	second.commit(Middle)
	Tell("commit", map[string]any{"committed": Committed()})
	first.leave()
	second.leave()
	Tell("leave", nil)

	again := join()
	Until("what is left", func() bool { return again.Len() >= (2*Batch-Middle)*Partitions })
	Check(again.CommitUncommittedOffsets(ctx))
	again.leave()
	Tell("resume", map[string]any{"records": again.Take()})

	client, err := kgo.NewClient(kgo.SeedBrokers(Brokers()...))
	Check(err)
	defer client.Close()
	admin := kadm.NewClient(client)
	place := kadm.TopicsSet{}
	place.Add(Topic, 0)
	deleted, err := admin.DeleteOffsets(ctx, Group, place)
	Check(err)
	Check(deleted.Error())
	Tell("delete_offsets", nil)
	_, err = admin.DeleteGroup(ctx, Group)
	Check(err)
	Tell("delete_group", nil)
}
