// franz-go plays the scenario.
package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	. "matrix/telling"
)

var ctx = context.Background()

type client struct{}

func connect(options ...kgo.Opt) *kgo.Client {
	connected, err := kgo.NewClient(append(options, kgo.SeedBrokers(Brokers()...))...)
	Check(err)
	return connected
}

func (client) Produce(first int) map[int][]int64 {
	producer := connect(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer producer.Close()
	var records []*kgo.Record
	for partition, value := range Values(first) {
		records = append(records, &kgo.Record{Topic: Topic, Partition: int32(partition), Value: value})
	}
	Check(producer.ProduceSync(ctx, records...).FirstErr())
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

func (client) Join() Member {
	return join(kgo.ConsumeTopics(Topic))
}

func (client) JoinBy(expression string) Member {
	return join(kgo.ConsumeTopics(expression), kgo.ConsumeRegex())
}

func (client) NoReturn() string {
	return "its last heartbeat names no instance id, which the broker refuses (INVALID_REQUEST): the member stays"
}

func join(options ...kgo.Opt) Member {
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
	if Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer()))
	}
	m.Client = connect(append(
		options,
		kgo.ConsumerGroup(Group),
		kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.OnPartitionsAssigned(gained),
		kgo.OnPartitionsRevoked(lost),
		kgo.OnPartitionsLost(lost),
	)...)
	go func() {
		defer close(m.stopped)
		for {
			fetches := m.PollFetches(ctx)
			if fetches.IsClientClosed() {
				return
			}
			Check(fetches.Err())
			fetches.EachRecord(func(record *kgo.Record) { m.Add(int(record.Partition), record.Offset, record.Value) })
		}
	}()
	return m
}

func (m *member) Partitions() []int {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.Sorted(slices.Values(m.assigned))
}

func (m *member) CommitRead(int64) {
	Check(m.CommitUncommittedOffsets(ctx))
}

func (m *member) Commit(offset int64) {
	offsets := map[int32]kgo.EpochOffset{}
	for _, partition := range m.Partitions() {
		offsets[int32(partition)] = kgo.EpochOffset{Epoch: -1, Offset: offset}
	}
	var failed error
	done := func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, answer *kmsg.OffsetCommitResponse, err error) {
		failed = err
	}
	m.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{Topic: offsets}, done)
	Check(failed)
}

func (m *member) Leave() {
	m.Close()
	<-m.stopped
}

func (client) DeleteOffset() {
	admin := kadm.NewClient(connect())
	defer admin.Close()
	place := kadm.TopicsSet{}
	place.Add(Topic, 0)
	deleted, err := admin.DeleteOffsets(ctx, Group, place)
	Check(err)
	Check(deleted.Error())
}

func (client) DeleteGroup() {
	admin := kadm.NewClient(connect())
	defer admin.Close()
	_, err := admin.DeleteGroup(ctx, Group)
	Check(err)
}

type worker struct {
	*kgo.Client
	polled  []*kgo.Record
	lock    sync.Mutex
	refused map[int]string
}

func (client) Work() Worker {
	w := &worker{refused: map[int]string{}}
	w.Client = connect(
		kgo.ShareGroup(Group),
		kgo.MaxConcurrentFetches(0), // else it reads what comes back while it has it still
		kgo.ConsumeTopics(Topic),
		kgo.FetchMaxWait(100*time.Millisecond),
		kgo.ShareAckCallback(func(_ *kgo.Client, results kgo.ShareAckResults) {
			w.lock.Lock()
			defer w.lock.Unlock()
			for _, one := range results {
				var refused *kerr.Error
				if errors.As(one.Err, &refused) {
					w.refused[int(one.Partition)] = refused.Message
				} else {
					Check(one.Err)
				}
			}
		}),
	)
	return w
}

func (w *worker) Poll() []Received {
	within, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	fetches := w.PollFetches(within)
	if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		Check(err)
	}
	w.polled = fetches.Records()
	var found []Received
	for _, one := range w.polled {
		found = append(found, Received{
			Partition: int(one.Partition), Offset: one.Offset, Value: string(one.Value), Count: int(one.DeliveryCount()),
		})
	}
	return found
}

func (w *worker) Send(types []int) map[int]string {
	for index, record := range w.polled {
		record.Ack([]kgo.AckStatus{kgo.AckAccept, kgo.AckRelease, kgo.AckReject, kgo.AckRenew}[types[index]])
	}
	Check(w.FlushAcks(ctx))
	w.lock.Lock()
	defer w.lock.Unlock()
	refused := w.refused
	w.refused = map[int]string{}
	return refused
}

func (w *worker) Leave() {
	w.Close()
}

func (client) AlterOffset(offset int64) {
	admin := kadm.NewClient(connect())
	defer admin.Close()
	offsets := kadm.Offsets{}
	offsets.AddOffset(Topic, 0, offset, -1)
	altered, err := admin.AlterShareGroupOffsets(ctx, Group, offsets)
	Check(err)
	Check(altered.Error())
}

func (client) ReadsNoMore() string {
	return "a refusal names broker 0 as the leader, which means none, but the client believes it: another member continues"
}

func (client) ForgetTopic() {
	admin := kadm.NewClient(connect())
	defer admin.Close()
	forgotten, err := admin.DeleteShareGroupOffsets(ctx, Group, Topic)
	Check(err)
	Check(forgotten.Error())
}

func main() {
	if Protocol == "share" {
		PlayShare(client{})
	} else {
		Play(client{}, nil)
	}
}
