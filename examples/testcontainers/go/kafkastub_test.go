package containers

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestABrokerInAContainer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	skipWithoutImage(t, "kafkastub")
	stub, err := RunKafkaStub(ctx, "kafkastub", "orders:1")
	testcontainers.CleanupContainer(t, stub)
	if err != nil {
		t.Fatal(err)
	}

	client, err := kgo.NewClient(kgo.SeedBrokers(stub.BootstrapServers), kgo.ConsumeTopics("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	order := &kgo.Record{Topic: "orders", Value: []byte("two teapots")}
	if err := client.ProduceSync(ctx, order).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetched := client.PollFetches(ctx)
	if records := fetched.Records(); fetched.Err() != nil || string(records[0].Value) != "two teapots" {
		t.Fatalf("fetched %v, %v", records, fetched.Err())
	}

	answer, err := http.Post(stub.ControlURL+"/v1/clock/advance", "application/json", strings.NewReader(`{"by": "7d"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("the clock did not move: %s", answer.Status)
	}
}

// skipWithoutImage says why there is nothing to run; where KAFKASTUB_ENGINE is set, there has to be.
func skipWithoutImage(t *testing.T, image string) {
	t.Helper()
	if os.Getenv("KAFKASTUB_ENGINE") != "" {
		return
	}
	if said, err := exec.Command("docker", "image", "inspect", image).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, said)
	}
}
