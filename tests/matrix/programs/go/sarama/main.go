// sarama plays the scenario.
package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"

	. "matrix/telling"
)

func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Session.Timeout = 45 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	return config
}

// produce a batch to each partition, from this number on; gives the offsets.
func produce(first int) map[int][]int64 {
	producer, err := sarama.NewSyncProducer(Brokers(), config())
	Check(err)
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	for number := first; number < first+Batch; number++ {
		for partition := range Partitions {
			messages = append(messages, &sarama.ProducerMessage{
				Topic: Topic, Partition: int32(partition), Value: sarama.ByteEncoder(Value(partition, number)),
			})
		}
	}
	Check(producer.SendMessages(messages))
	offsets := map[int][]int64{}
	for _, message := range messages {
		offsets[int(message.Partition)] = append(offsets[int(message.Partition)], message.Offset)
	}
	return offsets
}

type member struct {
	Rows
	group   sarama.ConsumerGroup
	lock    sync.Mutex
	session sarama.ConsumerGroupSession
	stopped chan struct{}
}

func join() *member {
	group, err := sarama.NewConsumerGroup(Brokers(), Group, config())
	Check(err)
	m := &member{group: group, stopped: make(chan struct{})}
	go func() {
		defer close(m.stopped)
		for {
			err := group.Consume(context.Background(), []string{Topic}, m)
			if err == sarama.ErrClosedConsumerGroup {
				return
			}
			Check(err)
		}
	}()
	return m
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.session = session
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.session = nil
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		m.Add(int(message.Partition), message.Offset, message.Value)
	}
	return nil
}

func (m *member) partitions() []int {
	m.lock.Lock()
	defer m.lock.Unlock()
	var found []int
	if m.session != nil {
		for _, partition := range m.session.Claims()[Topic] {
			found = append(found, int(partition))
		}
	}
	return slices.Sorted(slices.Values(found))
}

func (m *member) commit(offset int64) {
	for _, partition := range m.partitions() {
		m.session.MarkOffset(Topic, int32(partition), offset, "")
	}
	m.session.Commit()
}

func (m *member) leave() {
	Check(m.group.Close())
	<-m.stopped
}

func main() {
	Tell("produce", map[string]any{"offsets": produce(0)})

	first := join()
	Until("all records", func() bool { return first.Len() >= Batch*Partitions })
	first.commit(Batch)
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
	again.commit(2 * Batch)
	again.leave()
	Tell("resume", map[string]any{"records": again.Take()})

	admin, err := sarama.NewClusterAdmin(Brokers(), config())
	Check(err)
	defer admin.Close()
	Check(admin.DeleteConsumerGroupOffset(Group, Topic, 0))
	Tell("delete_offsets", nil)
	Check(admin.DeleteConsumerGroup(Group))
	groups, err := admin.ListConsumerGroups()
	Check(err)
	if slices.Contains(slices.Collect(maps.Keys(groups)), Group) {
		panic("the deleted group is listed")
	}
	Tell("delete_group", nil)
}
