// Package telling is what the Go programs share: the scenario, the command line, and telling of a step.
package telling

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

const (
	Partitions = 4
	// Batch is how many records each partition gets, the first time and the second.
	Batch = 10
	// Middle is where the members commit: in the middle of the second batch.
	Middle = 15
	// Patience is for anything that is waited for.
	Patience = 150 * time.Second
)

var (
	Bootstrap = os.Args[1]
	Topic     = os.Args[2]
	Group     = os.Args[3]
	// Protocol of the group: classic, consumer (KIP-848), or share (KIP-932).
	Protocol = protocol()
	input    = bufio.NewReader(os.Stdin)
)

func protocol() string {
	if len(os.Args) > 4 {
		return os.Args[4]
	}
	return "classic"
}

// Values of a batch to each partition, from this number on: that of the record which gets the offset is PARTITION-OFFSET.
func Values(first int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for number := first; number < first+Batch; number++ {
			for partition := range Partitions {
				if !yield(partition, fmt.Appendf(nil, "%d-%d", partition, number)) {
					return
				}
			}
		}
	}
}

// PartitionOf a value.
func PartitionOf(value []byte) int {
	partition := -1
	fmt.Sscanf(string(value), "%d-", &partition)
	return partition
}

// tell prints a line and waits until the runner has looked at the broker.
func tell(step string, seen map[string]any) {
	seen["step"] = step
	Check(json.NewEncoder(os.Stdout).Encode(seen))
	if _, err := input.ReadString('\n'); err != nil {
		Check(fmt.Errorf("the runner is gone: %w", err))
	}
}

// Check ends the program with an error.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// until waits for a condition.
func until(what string, done func() bool) {
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			Check(fmt.Errorf("not within %s: %s", Patience, what))
		}
	}
}

// shared says whether each has partitions and together they have all.
func shared(parts [][]int) bool {
	var all []int
	for _, part := range parts {
		if len(part) == 0 {
			return false
		}
		all = append(all, part...)
	}
	sort.Ints(all)
	return fmt.Sprint(all) == "[0 1 2 3]"
}

// Rows are the records that one member has read. It is safe for use by several goroutines.
type Rows struct {
	lock sync.Mutex
	rows [][3]any
}

// Add a record.
func (r *Rows) Add(partition int, offset int64, value []byte) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.rows = append(r.rows, [3]any{partition, offset, string(value)})
}

// Len is how many there are.
func (r *Rows) Len() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return len(r.rows)
}

// Take gives what there is and forgets it.
func (r *Rows) Take() [][3]any {
	r.lock.Lock()
	defer r.lock.Unlock()
	rows := r.rows
	r.rows = nil
	return rows
}

// Brokers as a list.
func Brokers() []string {
	return strings.Split(Bootstrap, ",")
}
