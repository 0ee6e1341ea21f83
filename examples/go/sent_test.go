package orders

import (
	"testing"

	"github.com/kafkastub/kafkastub-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestAnOrderIsSent(t *testing.T) {
	stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 3))
	producer, err := kgo.NewClient(kgo.SeedBrokers(stub.BootstrapServers))
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	producer.ProduceSync(t.Context(), &kgo.Record{Topic: "orders", Key: []byte("7"), Value: []byte("two teapots")})

	orders, err := stub.Topics.Records(t.Context(), "orders", nil)
	if err != nil || orders.Records[0].Value != "two teapots" {
		t.Fatal(orders, err)
	}
}
