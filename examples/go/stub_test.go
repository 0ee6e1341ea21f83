package orders

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"orders/kafkastub"
)

var (
	ready       = regexp.MustCompile(`^kafkastub ready on (\S+) `)
	controlPort = regexp.MustCompile(`^kafkastub control port on (\S+)`)
)

// startStub serves until the test ends and gives HOST:PORT. Topics are written NAME:PARTITIONS.
func startStub(t *testing.T, topics ...string) string {
	t.Helper()
	return serve(t, topics).next(ready)
}

// startControlled does so, too, and gives what holds it from outside.
func startControlled(t *testing.T, topics ...string) (string, *kafkastub.Control) {
	t.Helper()
	stub := serve(t, topics, "--control-port", "0")
	return stub.next(ready), kafkastub.New(stub.next(controlPort))
}

type process struct {
	t      *testing.T
	output *bufio.Reader
}

func serve(t *testing.T, topics []string, more ...string) *process {
	t.Helper()
	arguments := append([]string{"serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"}, more...)
	if len(topics) > 0 {
		arguments = append(append(arguments, "--topic"), topics...)
	}
	stub := exec.Command(cmp.Or(os.Getenv("KAFKASTUB"), "kafkastub"), arguments...)
	stub.Stderr = os.Stderr
	out, err := stub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stub.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stub.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		stub.Wait()
	})
	return &process{t, bufio.NewReader(out)}
}

// next gives what the next line says.
func (stub *process) next(wanted *regexp.Regexp) string {
	stub.t.Helper()
	line, _ := stub.output.ReadString('\n')
	found := wanted.FindStringSubmatch(line)
	if found == nil {
		stub.t.Fatalf("kafkastub did not start; it said: %q", line)
	}
	return found[1]
}
