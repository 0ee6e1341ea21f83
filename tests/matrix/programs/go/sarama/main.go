// sarama plays the scenario.
package main

import (
	"context"
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

type client struct{}

func (client) Produce(first int) map[int][]int64 {
	producer, err := sarama.NewSyncProducer(Brokers(), config())
	Check(err)
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	for partition, value := range Values(first) {
		messages = append(messages, &sarama.ProducerMessage{
			Topic: Topic, Partition: int32(partition), Value: sarama.ByteEncoder(value),
		})
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

func (client) Join() Member {
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

func (m *member) Partitions() []int {
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

func (m *member) CommitRead(end int64) {
	m.Commit(end)
}

func (m *member) Commit(offset int64) {
	for _, partition := range m.Partitions() {
		m.session.MarkOffset(Topic, int32(partition), offset, "")
	}
	m.session.Commit()
}

func (m *member) Leave() {
	Check(m.group.Close())
	<-m.stopped
}

func administer() sarama.ClusterAdmin {
	admin, err := sarama.NewClusterAdmin(Brokers(), config())
	Check(err)
	return admin
}

func (client) DeleteOffset() {
	admin := administer()
	defer admin.Close()
	Check(admin.DeleteConsumerGroupOffset(Group, Topic, 0))
}

func (client) DeleteGroup() {
	admin := administer()
	defer admin.Close()
	Check(admin.DeleteConsumerGroup(Group))
	groups, err := admin.ListConsumerGroups()
	Check(err)
	if _, listed := groups[Group]; listed {
		panic("the deleted group is listed")
	}
}

func main() {
	Play(client{}, nil)
}
