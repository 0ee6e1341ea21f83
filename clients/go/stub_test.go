package kafkastub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestAStubIsOneOfItsOwnAndEndsWithItsTest(t *testing.T) {
	var address string
	t.Run("inner", func(t *testing.T) {
		stub, other := Start(t, WithTopic("orders", 3)), Start(t)
		topics := must[*TopicList](t)(stub.Topics.List(t.Context(), nil))
		if topics.Total != 1 || topics.Topics[0].Name != "orders" || topics.Topics[0].Partitions != 3 {
			t.Errorf("topics: %+v", topics)
		}
		if topics := must[*TopicList](t)(other.Topics.List(t.Context(), nil)); topics.Total != 0 {
			t.Errorf("the other stub has topics: %+v", topics)
		}
		address = stub.BootstrapServers
		must[net.Conn](t)(net.Dial("tcp", address)).Close()
	})
	if connection, err := net.Dial("tcp", address); err == nil {
		connection.Close()
		t.Errorf("%s still answers", address)
	}
}

func TestTimeIsInTheHandsOfTheTest(t *testing.T) {
	stub := Start(t)
	before := must[*ClockState](t)(stub.Clock.Freeze(t.Context()))
	after := must[*ClockState](t)(stub.Clock.Advance(t.Context(), 7*24*time.Hour))
	if moved := time.Duration(after.NowMs-before.NowMs) * time.Millisecond; moved != 7*24*time.Hour || !after.Frozen {
		t.Errorf("the clock moved by %s: %+v", moved, after)
	}
	moment := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	if set := must[*ClockState](t)(stub.Clock.Set(t.Context(), moment)); set.Now != "2040-01-01T00:00:00.000Z" {
		t.Errorf("the clock was set to %s", set.Now)
	}
}

func TestRecordsAreWrittenReadAndWaitedFor(t *testing.T) {
	stub := Start(t, WithTopic("orders", 1))
	written := must[*Written](t)(stub.Topics.Produce(t.Context(), "orders",
		GivenRecord{Key: "7", Value: "two teapots"}, GivenRecord{Value: map[string]any{"json": map[string]any{"cups": 1}}}))
	if len(written.Records) != 2 || written.Records[1].Offset != 1 {
		t.Errorf("written: %+v", written)
	}
	must[*TopicReached](t)(stub.Topics.WaitRecords(t.Context(), "orders", 2))
	records := must[*Records](t)(stub.Topics.Records(t.Context(), "orders", nil))
	if len(records.Records) != 2 || records.Records[0].Value != "two teapots" || records.Records[1].Value != `{"cups":1}` {
		t.Errorf("records: %+v", records)
	}
	if raw := must[[]byte](t)(stub.Topics.Raw(t.Context(), "orders", 0, 0, "value")); string(raw) != "two teapots" {
		t.Errorf("raw: %q", raw)
	}
}

func TestAWaitThatIsInVainSaysWhatWasLastSeen(t *testing.T) {
	stub := Start(t)
	_, err := stub.Groups.Wait(t.Context(), "a group/with:signs", &GroupsWaitParams{State: "Stable", Timeout: new(0.01)})
	var refused *Refused
	if !errors.As(err, &refused) || !refused.Timeout() || !strings.Contains(refused.Sentence, "a group/with:signs") {
		t.Errorf("the wait gave %v", err)
	}
}

func TestWhatIsRefusedNamesTheField(t *testing.T) {
	launcher := must[*Launcher](t)(Shared())
	for _, test := range []struct {
		option Option
		says   string
	}{
		{WithConfig("num.partitions", 0), "num.partitions=0"},
		{WithTopic("orders", 0), "topic 'orders'"},
		{WithProfile("apache"), "profile='apache'"},
		{WithNodes(1000), "nodes=1000"},
	} {
		_, err := launcher.Start(t.Context(), test.option)
		var refused *Refused
		if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q is not in %v", test.says, err)
		}
	}
}

func TestAPortInUseIsTold(t *testing.T) {
	taken := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	_, err := must[*Launcher](t)(Shared()).Start(t.Context(), WithPort(port))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d on 127.0.0.1 is taken", port)) {
		t.Errorf("the start gave %v", err)
	}
}

func TestARuleIsAddedMetAndRemoved(t *testing.T) {
	stub := Start(t, WithTopic("orders", 1), WithFault(Rule{API: "Fetch", DelayMs: new(1), Name: "slow"}))
	fault := must[*Fault](t)(stub.Faults.Add(t.Context(), Rule{API: "Produce", Hold: "before"}))
	rules := must[*FaultList](t)(stub.Faults.List(t.Context()))
	if len(rules.Faults) != 2 || rules.Faults[0].ID != "slow" || rules.Faults[1].ID != fault.ID {
		t.Errorf("rules: %+v", rules)
	}
	must[*Released](t)(fault.Release(t.Context()))
	must[*RemovedFaults](t)(fault.Remove(t.Context()))
	if _, err := fault.Show(t.Context()); err == nil {
		t.Error("the rule is still there")
	}
}

func TestASnapshotIsTakenRestoredAndKeptInAFile(t *testing.T) {
	stub := Start(t, WithTopic("orders", 1))
	must[*SnapshotInfo](t)(stub.Snapshots.Take(t.Context(), "seed"))
	must[*TopicInfo](t)(stub.Topics.Create(t.Context(), NewTopic{Name: "audit"}))
	must[*SnapshotInfo](t)(stub.Snapshots.Restore(t.Context(), "seed"))
	if topics := must[*TopicList](t)(stub.Topics.List(t.Context(), nil)); topics.Total != 1 {
		t.Errorf("topics: %+v", topics)
	}
	file := must[io.ReadCloser](t)(stub.Snapshots.Download(t.Context(), "seed"))
	defer file.Close()
	path := t.TempDir() + "/seed"
	if err := os.WriteFile(path, must[[]byte](t)(io.ReadAll(file)), 0o600); err != nil {
		t.Fatal(err)
	}
	if topics := must[*TopicList](t)(Start(t, WithSnapshot(path)).Topics.List(t.Context(), nil)); topics.Total != 1 {
		t.Errorf("topics: %+v", topics)
	}
}

func TestStubsInParallel(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			stub := Start(t, WithTopic("orders", i+1))
			topic := must[*TopicDetail](t)(stub.Topics.Describe(t.Context(), "orders", nil))
			if topic.Partitions != i+1 {
				t.Errorf("orders has %d partitions", topic.Partitions)
			}
		})
	}
}

// failing is a test that fails: what it logs is kept.
type failing struct {
	testing.TB
	logged  strings.Builder
	cleanup []func()
}

func (f *failing) Failed() bool       { return true }
func (f *failing) Log(args ...any)    { fmt.Fprintln(&f.logged, args...) }
func (f *failing) Cleanup(end func()) { f.cleanup = append(f.cleanup, end) }

func TestTheLogOfAFailedTestHasWhyClientsWaitAndWhatTheStubWasAsked(t *testing.T) {
	failed := &failing{TB: t}
	stub := Start(failed, WithTopic("orders", 1))
	connection := must[net.Conn](t)(net.Dial("tcp", stub.BootstrapServers))
	defer connection.Close()
	// Metadata 4 of a topic that nobody made, correlation 7, client "x".
	connection.Write(append([]byte{0, 0, 0, 23, 0, 3, 0, 4, 0, 0, 0, 7, 0, 1, 'x', 0, 0, 0, 1, 0, 5}, "order\x00"...))
	connection.Read(make([]byte, 1))
	for _, end := range failed.cleanup {
		end()
	}
	text := failed.logged.String()
	why := "why clients may wait:\n  Topic 'order' does not exist; x asked for it once. Did you mean 'orders'?\n"
	for _, wanted := range []string{why, "Metadata v4", stub.BootstrapServers} {
		if !strings.Contains(text, wanted) {
			t.Errorf("the log has no %q: %s", wanted, text)
		}
	}
}

// In a process of its own this test starts a stub, prints where, and waits to be killed.
func TestKill9LeavesNoBrokerBehind(t *testing.T) {
	if os.Getenv("KAFKASTUB_TEST_KILLED") != "" {
		stub := Start(t)
		fmt.Println(stub.BootstrapServers)
		<-context.Background().Done()
	}
	suite := exec.Command(must[string](t)(os.Executable()), "-test.run=^TestKill9LeavesNoBrokerBehind$")
	suite.Env = append(os.Environ(), "KAFKASTUB_TEST_KILLED=1", "KAFKASTUB_LAUNCHER=")
	output := must[io.ReadCloser](t)(suite.StdoutPipe())
	if err := suite.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanln(output, &address); err != nil {
		t.Fatal(err)
	}
	must[net.Conn](t)(net.Dial("tcp", address)).Close()
	if err := suite.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = suite.Wait()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		connection.Close()
		if time.Now().After(deadline) {
			t.Fatalf("%s still answers", address)
		}
	}
}
