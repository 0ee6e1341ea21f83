package telling

// Client is what a program does its client's own way.
type Client interface {
	// Produce a batch to each partition, from this number on; gives the offsets.
	Produce(first int) map[int][]int64
	Join() Member
	// DeleteOffset that is committed in partition 0.
	DeleteOffset()
	DeleteGroup()
}

// Consumer is a client that speaks the consumer protocol.
type Consumer interface {
	Client
	// JoinBy a regular expression.
	JoinBy(expression string) Member
	// NoReturn tells why a member with a group instance id cannot go and come back.
	NoReturn() string
}

// Member of the group. It reads by itself, from its join on; what it has read is in Rows.
type Member interface {
	Len() int
	Take() [][3]any
	// Partitions that it has at the moment, in order.
	Partitions() []int
	// CommitRead commits all that it has read: that ends at this offset in each of its partitions.
	CommitRead(end int64)
	// Commit this offset in each of its partitions.
	Commit(offset int64)
	Leave()
}

// Notes are what is to be said of a step, by its name.
type Notes map[string]string

// Play the scenario with a client.
func Play(client Client, notes Notes) {
	told := func(step string, seen map[string]any) {
		if note, there := notes[step]; there {
			seen["note"] = note
		}
		tell(step, seen)
	}
	told("produce", map[string]any{"offsets": client.Produce(0)})

	first := client.Join()
	until("all records", func() bool { return first.Len() >= Batch*Partitions })
	first.CommitRead(Batch)
	told("consume", map[string]any{"records": first.Take()})

	second := client.Join()
	members := func() [][]int { return [][]int{first.Partitions(), second.Partitions()} }
	until("both have partitions", func() bool { return shared(members()) })
	told("rebalance", map[string]any{"members": members()})
	client.Produce(Batch)
	until("the second batch", func() bool { return first.Len()+second.Len() >= Batch*Partitions })
	told("share", map[string]any{"records": []any{first.Take(), second.Take()}})
	committed := map[int]int{}
	for partition := range Partitions {
		committed[partition] = Middle
	}
	first.Commit(Middle)
	second.Commit(Middle)
	told("commit", map[string]any{"committed": committed})
	first.Leave()
	second.Leave()
	told("leave", map[string]any{})

	again := client.Join()
	until("what is left", func() bool { return again.Len() >= (2*Batch-Middle)*Partitions })
	again.CommitRead(2 * Batch)
	again.Leave()
	told("resume", map[string]any{"records": again.Take()})

	consumer, _ := client.(Consumer)
	if Protocol == "consumer" {
		client.Produce(2 * Batch)
		one := consumer.JoinBy("^" + Topic[:len(Topic)-2] + ".*")
		until("the third batch", func() bool { return one.Len() >= Batch*Partitions })
		one.CommitRead(3 * Batch)
		told("expression", map[string]any{"records": one.Take()})
		one.Leave()
	}

	client.DeleteOffset()
	told("delete_offsets", map[string]any{})
	client.DeleteGroup()
	told("delete_group", map[string]any{})
	if Protocol == "consumer" {
		why := map[string]any{"cannot": consumer.NoReturn()}
		tell("static", why)
		tell("return", why)
	}
}
