package kafkastub

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Stub is a broker that runs. Its fields are the parts that a test holds in its hands.
type Stub struct {
	// ID is what the launcher calls it.
	ID string
	// BootstrapServers is HOST:PORT, for a client's bootstrap.servers; of several nodes with commas between.
	BootstrapServers string
	// Listeners has the bootstrap servers by the listener's name.
	Listeners map[string]string
	// CAFile is the path of the certificate that clients with TLS trust; empty where no listener has it.
	CAFile string
	// RegistryURL is where the schema registry is; empty where there is none.
	RegistryURL string

	*Client

	launcher *Launcher
}

// Start starts a stub for a test, and ends it with the test. What cannot be started ends the test. When the test has failed,
// its log says why clients may wait, and has the newest requests that the stub answered.
//
// All stubs of a test process come from one launcher, which the first of them starts. A stub costs about 5 milliseconds.
func Start(t testing.TB, options ...Option) *Stub {
	t.Helper()
	launcher, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	stub, err := launcher.Start(context.Background(), append([]Option{WithName(t.Name())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(stub.report())
		}
		if err := stub.Close(); err != nil {
			t.Error(err)
		}
	})
	return stub
}

// Close ends the stub: its ports are free when it returns. A stub of Start is closed by the test.
func (stub *Stub) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return stub.launcher.client.do(ctx, "DELETE", "/v1/stubs/{stub_id}", in(stub.ID), nil, nil, nil)
}

const reported = 50

// report says why clients may wait and what the stub was asked, for the log of a test that has failed.
func (stub *Stub) report() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	page, err := stub.Journal.Query(ctx, &JournalQueryParams{Limit: new(reported)})
	if err != nil {
		return fmt.Sprintf("what kafkastub was asked cannot be had: %v", err)
	}
	var text strings.Builder
	if found, err := stub.Broker.Causes(ctx, nil); err == nil && len(found.Causes) > 0 {
		fmt.Fprintln(&text, "why clients may wait:")
		for _, sentence := range found.Causes {
			fmt.Fprintln(&text, "  "+sentence)
		}
	}
	fmt.Fprintf(&text, "kafkastub at %s was asked (the newest %d of %d):\n", stub.BootstrapServers, len(page.Entries), page.Total)
	for _, entry := range page.Entries {
		fmt.Fprintln(&text, entry["text"])
	}
	return text.String()
}
