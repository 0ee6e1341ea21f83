// segmentio/kafka-go plays the scenario.
package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	. "matrix/telling"
)

var (
	ctx    = context.Background()
	client = &kafka.Client{Addr: kafka.TCP(Brokers()...), Timeout: Patience}
)

// produce a batch to each partition, from this number on; gives the offsets.
func produce(first int) map[int][]int64 {
	offsets := map[int][]int64{}
	var lock sync.Mutex
	writer := &kafka.Writer{
		Addr:         client.Addr,
		Topic:        Topic,
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: 5 * time.Millisecond,
		Balancer: kafka.BalancerFunc(func(message kafka.Message, _ ...int) int {
			return PartitionOf(message.Value)
		}),
		Completion: func(messages []kafka.Message, err error) {
			lock.Lock()
			defer lock.Unlock()
			for _, message := range messages {
				offsets[message.Partition] = append(offsets[message.Partition], message.Offset)
			}
		},
	}
	var messages []kafka.Message
	for number := first; number < first+Batch; number++ {
		for partition := range Partitions {
			messages = append(messages, kafka.Message{Value: Value(partition, number)})
		}
	}
	Check(writer.WriteMessages(ctx, messages...))
	Check(writer.Close())
	return offsets
}

type member struct {
	Rows
	reader  *kafka.Reader
	lock    sync.Mutex
	owned   map[int]bool
	stopped chan struct{}
}

func join() *member {
	m := &member{owned: map[int]bool{}, stopped: make(chan struct{})}
	m.reader = kafka.NewReader(kafka.ReaderConfig{
		Brokers:           Brokers(),
		GroupID:           Group,
		Topic:             Topic,
		StartOffset:       kafka.FirstOffset,
		SessionTimeout:    45 * time.Second,
		HeartbeatInterval: 200 * time.Millisecond,
		MaxWait:           100 * time.Millisecond,
		JoinGroupBackoff:  200 * time.Millisecond,
	})
	go func() {
		defer close(m.stopped)
		for {
			message, err := m.reader.FetchMessage(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			Check(err)
			m.lock.Lock()
			m.owned[message.Partition] = true
			m.lock.Unlock()
			m.Add(message.Partition, message.Offset, message.Value)
		}
	}()
	return m
}

// commit in the partitions that it has read.
func (m *member) commit(offset int64) {
	m.lock.Lock()
	defer m.lock.Unlock()
	var messages []kafka.Message
	for partition := range m.owned {
		messages = append(messages, kafka.Message{Topic: Topic, Partition: partition, Offset: offset - 1})
	}
	Check(m.reader.CommitMessages(ctx, messages...))
}

func (m *member) forget() {
	m.lock.Lock()
	defer m.lock.Unlock()
	clear(m.owned)
}

func (m *member) leave() {
	Check(m.reader.Close())
	<-m.stopped
}

// partitions of the members, as the client describes the group: a Reader does not tell its own.
func partitions() [][]int {
	described, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{Group}})
	Check(err)
	var parts [][]int
	for _, one := range described.Groups[0].Members {
		for _, topic := range one.MemberAssignments.Topics {
			parts = append(parts, slices.Sorted(slices.Values(topic.Partitions)))
		}
	}
	return parts
}

func main() {
	Tell("produce", map[string]any{"offsets": produce(0)})

	first := join()
	Until("all records", func() bool { return first.Len() >= Batch*Partitions })
	first.commit(Batch)
	first.forget()
	Tell("consume", map[string]any{"records": first.Take()})

	second := join()
	Until("both have partitions", func() bool { return len(partitions()) == 2 && Shared(partitions()...) })
	Tell("rebalance", map[string]any{"members": partitions(), "note": "by its DescribeGroups: a Reader tells no assignment"})
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
	again.commit(2 * Batch)
	again.leave()
	Tell("resume", map[string]any{"records": again.Take()})

	deleted, err := client.OffsetDelete(ctx, &kafka.OffsetDeleteRequest{GroupID: Group, Topics: map[string][]int{Topic: {0}}})
	Check(err)
	Check(deleted.Error)
	for _, one := range deleted.Topics[Topic] {
		Check(one.Error)
	}
	Tell("delete_offsets", nil)
	gone, err := client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{Group}})
	Check(err)
	Check(gone.Errors[Group])
	Tell("delete_group", nil)
}
