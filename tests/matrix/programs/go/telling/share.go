package telling

import (
	"fmt"
	"time"
)

// What a member says of a record.
const (
	Accept = iota
	Release
	Reject
	Renew
)

const (
	everything = Batch * Partitions
	// lock is for how long a member has a record.
	lock = 2 * time.Second
	// deliveries is how often a record comes before the group gives it up.
	deliveries = 3
	altered    = 5
)

// Sharer is a client that has share groups.
type Sharer interface {
	Client
	// Work is a new member of the share group.
	Work() Worker
	// AlterOffset of partition 0.
	AlterOffset(offset int64)
	// ReadsNoMore tells why another member has to read on, once an acknowledgement was refused.
	ReadsNoMore() string
	// ForgetTopic deletes the topic's offsets of the share group.
	ForgetTopic()
}

// Worker is a member of the share group.
type Worker interface {
	// Poll gives what comes within a moment.
	Poll() []Received
	// Send the acknowledgements of what has been polled, by the places in the list; gives the partitions where they are
	// refused, and the names of the errors.
	Send(types []int) map[int]string
	Leave()
}

// Received is a record that a worker has got.
type Received struct {
	Partition int
	Offset    int64
	Value     string
	Count     int
}

type place struct {
	partition int
	offset    int64
}

// reader reads with a worker, and remembers.
type reader struct {
	Worker
	rows   [][4]any
	polled []Received
	done   map[place]bool
	late   map[string]bool
}

func read(worker Worker) *reader {
	return &reader{Worker: worker, rows: [][4]any{}, done: map[place]bool{}, late: map[string]bool{}}
}

func (r *reader) poll() int {
	r.polled = r.Poll()
	for _, one := range r.polled {
		r.rows = append(r.rows, [4]any{one.Partition, one.Offset, one.Value, one.Count})
	}
	return len(r.polled)
}

// say what of each record; one that was released for the last time is done with, too.
func (r *reader) say(judge func(Received) int) {
	if len(r.polled) == 0 {
		return
	}
	types := []int{}
	for _, one := range r.polled {
		types = append(types, judge(one))
	}
	failed := r.Send(types)
	for _, name := range failed {
		r.late[name] = true
	}
	for index, one := range r.polled {
		_, refused := failed[one.Partition]
		if !refused && types[index] != Renew && (types[index] != Release || one.Count == deliveries) {
			r.done[place{one.Partition, one.Offset}] = true
		}
	}
}

func (r *reader) read(count int, judge func(Received) int) {
	until(fmt.Sprint(count, " records"), func() bool {
		r.poll()
		r.say(judge)
		return len(r.done) >= count
	})
}

func (r *reader) take() [][4]any {
	rows := r.rows
	r.rows, r.done = [][4]any{}, map[place]bool{}
	return rows
}

func accept(Received) int { return Accept }

// atFive is where the middle record of each batch of ten is treated in another way.
func atFive(type_ int) func(Received) int {
	return func(one Received) int {
		if one.Offset%10 == 5 {
			return type_
		}
		return Accept
	}
}

// PlayShare plays the scenario of share groups with a client.
func PlayShare(client Sharer) {
	produced := 0
	produce := func() map[int][]int64 {
		offsets := client.Produce(produced)
		produced += Batch
		return offsets
	}
	tell("produce", map[string]any{"offsets": produce()})
	first := read(client.Work())
	first.read(everything, accept)
	tell("accept", map[string]any{"records": first.take()})

	second := read(client.Work())
	first.poll()
	second.poll()
	tell("join", map[string]any{})
	produce()
	until("the second batch", func() bool {
		for _, one := range []*reader{first, second} {
			one.poll()
			one.say(accept)
		}
		return len(first.done)+len(second.done) >= everything
	})
	tell("both", map[string]any{"records": []any{first.take(), second.take()}})
	second.Leave()

	produce()
	first.read(everything, func(one Received) int {
		if one.Offset%2 == 1 && one.Count == 1 {
			return Release
		}
		return Accept
	})
	tell("release", map[string]any{"records": first.take()})
	produce()
	first.read(everything, atFive(Release))
	tell("poison", map[string]any{"records": first.take()})
	produce()
	first.read(everything, atFive(Reject))
	tell("reject", map[string]any{"records": first.take()})
	produce()
	first.keep()
	tell("renew", map[string]any{"records": first.take()})
	produce()
	until("some records", func() bool { return first.poll() > 0 })
	time.Sleep(lock + lock/4)
	kept := first.rows
	first.rows = [][4]any{}
	clear(first.late)
	first.say(accept)
	late := []string{}
	for name := range first.late {
		late = append(late, name)
	}
	first.Leave()
	first = read(client.Work())
	first.read(everything, accept)
	tell("expire", map[string]any{"kept": kept, "late": late, "records": first.take(), "note": client.ReadsNoMore()})

	produce()
	until("some records", func() bool { return first.poll() > 0 })
	first.Leave()
	third := read(client.Work())
	third.read(everything, accept)
	tell("close", map[string]any{"records": []any{first.take(), third.take()}})
	third.Leave()
	tell("leave", map[string]any{})

	client.AlterOffset(altered)
	tell("alter_offsets", map[string]any{})
	again := read(client.Work())
	again.read(produced-altered, accept)
	tell("again", map[string]any{"records": again.take()})
	again.Leave()
	client.ForgetTopic()
	tell("delete_offsets", map[string]any{})
	client.DeleteGroup()
	tell("delete_group", map[string]any{})
}

// keep a batch for longer than the locks, by renewing these.
func (r *reader) keep() {
	for len(r.done) < everything {
		until("some records", func() bool { return r.poll() > 0 })
		for end := time.Now().Add(lock * 3 / 2); time.Now().Before(end); time.Sleep(lock / 4) {
			r.say(func(Received) int { return Renew })
		}
		r.say(accept)
	}
}
