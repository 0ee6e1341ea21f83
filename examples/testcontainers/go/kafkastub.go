// Package containers runs the image of kafkastub with Testcontainers. Take this file into your own tests.
package containers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	kafkaPort   = "9092/tcp"
	controlPort = "9090/tcp"
)

// KafkaStubContainer is a broker with its control port.
type KafkaStubContainer struct {
	testcontainers.Container
	// BootstrapServers is HOST:PORT for clients on the host; those in its network come by its alias and port 19092.
	BootstrapServers string
	// ControlURL is where the control port is asked.
	ControlURL string
}

// RunKafkaStub starts an image, and tells clients on the host which port the engine has published. Topics are written
// NAME:PARTITIONS. What it gives can be handed to testcontainers.CleanupContainer, with an error too.
func RunKafkaStub(ctx context.Context, image string, topics ...string) (*KafkaStubContainer, error) {
	environment := map[string]string{
		"KAFKASTUB_CONTROL_PORT":                 "9090",
		"KAFKASTUB_CONTROL_HOST":                 "0.0.0.0",
		"KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
	}
	if len(topics) > 0 {
		environment["KAFKA_CREATE_TOPICS"] = strings.Join(topics, ",")
	}
	started, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts(kafkaPort, controlPort),
		testcontainers.WithEnv(environment),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/health").WithPort(controlPort)),
	)
	if started == nil {
		return nil, err
	}
	stub := &KafkaStubContainer{Container: started}
	if err == nil {
		stub.BootstrapServers, err = started.PortEndpoint(ctx, kafkaPort, "")
	}
	if err == nil {
		stub.ControlURL, err = started.PortEndpoint(ctx, controlPort, "http")
	}
	if err == nil {
		err = stub.advertise(ctx)
	}
	return stub, err
}

func (stub *KafkaStubContainer) advertise(ctx context.Context) error {
	body := strings.NewReader(fmt.Sprintf(`{"address": "HOST://%s"}`, stub.BootstrapServers))
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, stub.ControlURL+"/v1/advertised", body)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the advertised address was refused: %s", answer.Status)
	}
	return nil
}
