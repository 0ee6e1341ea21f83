// Workers that confirm orders, each of which has to be confirmed: a correct one, and some that do one thing otherwise.
//
// On standard input a line is "PROTOCOL-WORKER SERVERS": that worker works, as a member of a group by that protocol,
// until the next line; "stop" is one with none. Each line is answered by one, when the worker before has ended.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

type worker struct {
	client *kgo.Client
	lock   sync.Mutex
	// Behind what it has taken.
	book map[int32]int64
	// How often partitions were taken from it.
	revoked int
}

// What tells one worker from another.
type kind struct {
	options func(*worker) []kgo.Opt
	step    func(context.Context, *worker) error
}

var kinds = map[string]kind{
	"correct":           {blocking, correct},
	"commits_first":     {blocking, commitsFirst},
	"forgets_to_rewind": {keepingABook, forgetsToRewind},
	"leaves_out":        {blocking, leavesOut},
}

func main() {
	stop := func() {}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println(lines.Text()) {
		stop()
		stop = func() {}
		if lines.Text() != "stop" {
			name, servers, _ := strings.Cut(lines.Text(), " ")
			protocol, name, _ := strings.Cut(name, "-")
			stop = start(kinds[name], protocol, servers)
		}
	}
}

// Gives what ends it.
func start(kind kind, protocol, servers string) func() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			supervised(ctx, kind, protocol, servers)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// A worker that fails is started again, with a client of its own.
func supervised(ctx context.Context, kind kind, protocol, servers string) {
	one := &worker{book: map[int32]int64{}}
	quick := []kgo.Opt{
		kgo.SeedBrokers(servers),
		kgo.RetryBackoffFn(func(int) time.Duration { return 10 * time.Millisecond }),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.MetadataMaxAge(500 * time.Millisecond),
		kgo.RequestTimeoutOverhead(2 * time.Second),
		kgo.ConsumerGroup("confirming"),
		kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.FetchMaxWait(20 * time.Millisecond),
		// It is told of what fails at once, and decides for itself what is tried again.
		kgo.DisableIdempotentWrite(),
		kgo.RecordRetries(0),
		kgo.ProducerLinger(0),
	}
	if protocol == "consumer" {
		quick = append(quick, kgo.ServerSideBalancer())
	} else {
		quick = append(quick, kgo.HeartbeatInterval(20*time.Millisecond), kgo.SessionTimeout(6*time.Second))
	}
	client, err := kgo.NewClient(append(quick, kind.options(one)...)...)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseAllowingRebalance()
	one.client = client
	for ctx.Err() == nil {
		if err := kind.step(ctx, one); err != nil && !bearable(err) {
			log.Print("anew: ", err)
			return
		} else if err != nil {
			log.Print("back: ", err)
			one.rewind()
		}
	}
}

// Whether the client goes on by itself: what was in hand has to be taken again, or is somebody else's.
func bearable(err error) bool {
	var session *kgo.ErrGroupSession
	for _, group := range []error{kerr.UnknownMemberID, kerr.IllegalGeneration, kerr.RebalanceInProgress} {
		if errors.Is(err, group) {
			return true
		}
	}
	return errors.Is(err, kgo.ErrRecordRetries) || kerr.IsRetriable(err) || errors.As(err, &session)
}

// What it takes stays its own until it asks for more.
func blocking(*worker) []kgo.Opt {
	return []kgo.Opt{kgo.BlockRebalanceOnPoll()}
}

func (one *worker) take(ctx context.Context) ([]*kgo.Record, error) {
	one.client.AllowRebalance()
	fetches := one.client.PollRecords(ctx, 10)
	return fetches.Records(), fetches.Err()
}

func (one *worker) confirm(ctx context.Context, record *kgo.Record) error {
	return one.client.ProduceSync(ctx, &kgo.Record{Topic: "confirmed", Value: record.Value}).FirstErr()
}

// Back to what is committed, or to the beginning.
func (one *worker) rewind() {
	offsets := one.client.CommittedOffsets()
	for _, partitions := range offsets {
		for partition, at := range partitions {
			partitions[partition] = kgo.EpochOffset{Epoch: -1, Offset: max(at.Offset, 0)}
		}
	}
	one.client.SetOffsets(offsets)
}

// Commits what it has confirmed.
func correct(ctx context.Context, one *worker) error {
	records, err := one.take(ctx)
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := one.confirm(ctx, record); err != nil {
			return err
		}
	}
	return one.client.CommitRecords(ctx, records...)
}

// Bug: what is committed and not yet confirmed is lost when it fails.
func commitsFirst(ctx context.Context, one *worker) error {
	records, err := one.take(ctx)
	if err != nil {
		return err
	}
	if err := one.client.CommitRecords(ctx, records...); err != nil {
		return err
	}
	for _, record := range records {
		if err := one.confirm(ctx, record); err != nil {
			return err
		}
	}
	return nil
}

// Bug: an order whose confirmation fails is left out, though trying again would do.
func leavesOut(ctx context.Context, one *worker) error {
	records, err := one.take(ctx)
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := one.confirm(ctx, record); err != nil && bearable(err) {
			log.Printf("not confirmed: %s: %v", record.Value, err)
		} else if err != nil {
			return err
		}
	}
	return one.client.CommitRecords(ctx, records...)
}

// It is told of a rebalance while it works, and begins behind what it had taken.
func keepingABook(one *worker) []kgo.Opt {
	revoked := func(context.Context, *kgo.Client, map[string][]int32) {
		one.lock.Lock()
		defer one.lock.Unlock()
		one.revoked++
	}
	goOn := func(_ context.Context, from map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
		one.lock.Lock()
		defer one.lock.Unlock()
		for partition, at := range one.book {
			if _, mine := from["orders"][partition]; mine {
				from["orders"][partition] = kgo.NewOffset().At(at)
			}
		}
		return from, nil
	}
	return []kgo.Opt{kgo.OnPartitionsRevoked(revoked), kgo.OnPartitionsLost(revoked), kgo.AdjustFetchOffsetsFn(goOn)}
}

// Bug: after a rebalance it goes on behind what it had taken, and what was not confirmed of it is left out.
func forgetsToRewind(ctx context.Context, one *worker) error {
	records, err := one.take(ctx)
	if err != nil {
		return err
	}
	before := one.took(records)
	for _, record := range records {
		if one.took(nil) != before {
			return nil // it may be somebody else's by now
		}
		if err := one.confirm(ctx, record); err != nil {
			return err
		}
	}
	return one.client.CommitRecords(ctx, records...)
}

// Writes it down, and gives how often partitions were taken from it.
func (one *worker) took(records []*kgo.Record) int {
	one.lock.Lock()
	defer one.lock.Unlock()
	for _, record := range records {
		one.book[record.Partition] = max(one.book[record.Partition], record.Offset+1)
	}
	return one.revoked
}
