package comparison

import (
	"fmt"
	"testing"
)

const many = 200

// one is what each of many tests does: a record is produced, consumed by a group, and committed.
func one(t *testing.T, servers []string) {
	send(t, connect(t, servers), "two teapots")
	consumer := member(t, servers, "one")
	expect(t, consumer, "two teapots")
	check(t, consumer.CommitUncommittedOffsets(t.Context()))
}

func TestManyKafkastub(t *testing.T) {
	for i := range many {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, servers := start(t)
			one(t, servers)
		})
	}
}

func TestManyKfake(t *testing.T) {
	for i := range many {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, servers := cluster(t)
			one(t, servers)
		})
	}
}
