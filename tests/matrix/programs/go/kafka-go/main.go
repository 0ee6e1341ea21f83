// segmentio/kafka-go plays the scenario.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	. "matrix/telling"
)

var (
	ctx     = context.Background()
	cluster = &kafka.Client{Addr: kafka.TCP(Brokers()...), Timeout: Patience}
)

type client struct {
	joined int
}

func (*client) Produce(first int) map[int][]int64 {
	offsets := map[int][]int64{}
	var lock sync.Mutex
	writer := &kafka.Writer{
		Addr:         cluster.Addr,
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
	for _, value := range Values(first) {
		messages = append(messages, kafka.Message{Value: value})
	}
	Check(writer.WriteMessages(ctx, messages...))
	Check(writer.Close())
	return offsets
}

type member struct {
	Rows
	id      string
	reader  *kafka.Reader
	stopped chan struct{}
}

func (c *client) Join() Member {
	c.joined++
	m := &member{id: fmt.Sprintf("matrix-%d", c.joined), stopped: make(chan struct{})}
	m.reader = kafka.NewReader(kafka.ReaderConfig{
		Brokers:           Brokers(),
		Dialer:            &kafka.Dialer{ClientID: m.id, Timeout: Patience},
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
			m.Add(message.Partition, message.Offset, message.Value)
		}
	}()
	return m
}

// Partitions as the broker describes them: a Reader does not tell its own.
func (m *member) Partitions() []int {
	described, err := cluster.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{Group}})
	Check(err)
	for _, one := range described.Groups[0].Members {
		if one.ClientID == m.id {
			for _, topic := range one.MemberAssignments.Topics {
				return slices.Sorted(slices.Values(topic.Partitions))
			}
		}
	}
	return nil
}

func (m *member) CommitRead(end int64) {
	m.Commit(end)
}

func (m *member) Commit(offset int64) {
	var messages []kafka.Message
	for _, partition := range m.Partitions() {
		messages = append(messages, kafka.Message{Topic: Topic, Partition: partition, Offset: offset - 1})
	}
	Check(m.reader.CommitMessages(ctx, messages...))
}

func (m *member) Leave() {
	Check(m.reader.Close())
	<-m.stopped
}

func (*client) DeleteOffset() {
	deleted, err := cluster.OffsetDelete(ctx, &kafka.OffsetDeleteRequest{GroupID: Group, Topics: map[string][]int{Topic: {0}}})
	Check(err)
	Check(deleted.Error)
	for _, one := range deleted.Topics[Topic] {
		Check(one.Error)
	}
}

func (*client) DeleteGroup() {
	gone, err := cluster.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{Group}})
	Check(err)
	Check(gone.Errors[Group])
}

func main() {
	Play(&client{}, Notes{"rebalance": "checked with its DescribeGroups, because a Reader does not return its assignment"})
}
