package orders

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

var ready = regexp.MustCompile(`^kafkastub ready on (\S+) `)

// startStub serves until the test ends and gives HOST:PORT. Topics are written NAME:PARTITIONS.
func startStub(t *testing.T, topics ...string) string {
	t.Helper()
	arguments := []string{"serve", "--port", "0", "--config", "group.initial.rebalance.delay.ms=0"}
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
		stub.Wait()
	})
	line, _ := bufio.NewReader(out).ReadString('\n')
	found := ready.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("%s did not start; it said: %q", stub, line)
	}
	return found[1]
}
