package orders

import (
	"context"
	"testing"
	"time"

	"github.com/kafkastub/kafkastub-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestAnOrderIsShippedOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 1))

	producer, err := kgo.NewClient(kgo.SeedBrokers(stub.BootstrapServers))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	order := &kgo.Record{Topic: "orders", Key: []byte("7"), Value: []byte("two teapots")}
	if err := producer.ProduceSync(ctx, order).FirstErr(); err != nil {
		t.Fatal(err)
	}

	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(stub.BootstrapServers),
		kgo.ConsumerGroup("shipping"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	fetched := consumer.PollFetches(ctx)
	if err := fetched.Err(); err != nil {
		t.Fatal(err)
	}
	records := fetched.Records()
	if len(records) != 1 || string(records[0].Value) != "two teapots" {
		t.Fatalf("fetched %v", records)
	}
	if err := consumer.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}

	committed, err := kadm.NewClient(producer).FetchOffsets(ctx, "shipping")
	if err != nil {
		t.Fatal(err)
	}
	if offset, _ := committed.Lookup("orders", 0); offset.At != 1 {
		t.Fatalf("committed %d, not 1", offset.At)
	}
}
