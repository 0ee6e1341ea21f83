// Command kfake serves one kfake broker (franz-go's in-process Kafka) on 127.0.0.1, a peer for the benchmarks.
//
// It prints "kfake ready on HOST:PORT" once it listens. A line on its standard input makes it give unused memory back
// and answer "collected"; the end of its standard input ends it, so that it never outlives the run that started it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kfake:", err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Printf("kfake ready on %s\n", cluster.ListenAddrs()[0])
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		debug.FreeOSMemory()
		fmt.Println("collected")
	}
}
