// An ETL job with franz-go, as its users write it: a GroupTransactSession that consumes, transforms and produces.
//
// What it does is told in tests/programs/etl.py.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	size    = 100
	aborted = 5
	audited = 10
)

type job struct {
	session              *kgo.GroupTransactSession
	admin                *kadm.Client
	input, output, audit string
	group                string
	hold                 int
}

func main() {
	bootstrap, group := os.Args[1], os.Args[5]
	hold, err := strconv.Atoi(os.Args[6])
	if err != nil {
		log.Fatal(err)
	}
	session, err := kgo.NewGroupTransactSession(
		kgo.SeedBrokers(bootstrap),
		kgo.TransactionalID(group+"-etl"),
		kgo.ConsumerGroup(group),
		kgo.InstanceID("etl"),
		kgo.ConsumeTopics(os.Args[2]),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.RequireStableFetchOffsets(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	admin := kadm.NewClient(session.Client())
	one := &job{session, admin, os.Args[2], os.Args[3], os.Args[4], group, hold}
	switch err := one.run(context.Background()); {
	case err == nil:
		fmt.Println("done")
	case fenced(err):
		fmt.Println("fenced", err)
	default:
		log.Fatal(err)
	}
}

func (one *job) run(ctx context.Context) error {
	for number := 1; ; {
		records, err := one.poll(ctx)
		if err != nil {
			return err
		}
		if len(records) == 0 {
			if end, err := one.atTheEnd(ctx); end || err != nil {
				return err
			}
			continue
		}
		if err := one.transact(ctx, number, records); err != nil {
			return err
		}
		number++
	}
}

func (one *job) poll(ctx context.Context) ([]*kgo.Record, error) {
	waiting, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	fetches := one.session.PollRecords(waiting, size)
	for _, failed := range fetches.Errors() {
		if !errors.Is(failed.Err, context.DeadlineExceeded) {
			return nil, failed.Err
		}
	}
	return fetches.Records(), nil
}

func (one *job) transact(ctx context.Context, number int, records []*kgo.Record) error {
	if err := one.session.Begin(); err != nil {
		return err
	}
	results := kgo.FirstErrPromise{}
	for _, record := range records {
		for _, topic := range one.targets(record) {
			value := strings.ToUpper(string(record.Value))
			made := &kgo.Record{Topic: topic, Partition: record.Partition, Key: record.Key, Value: []byte(value)}
			one.session.Produce(ctx, made, results.Promise())
		}
	}
	failed := results.Err()
	if number == one.hold {
		fmt.Println("holding")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
	_, err := one.session.End(ctx, failed == nil && number%aborted != 0)
	if err == nil && failed != nil && fenced(failed) {
		err = failed
	}
	return err
}

func (one *job) targets(record *kgo.Record) []string {
	number, err := strconv.Atoi(strings.Split(string(record.Value), "-")[1])
	if err == nil && number%audited == 0 {
		return []string{one.output, one.audit}
	}
	return []string{one.output}
}

func (one *job) atTheEnd(ctx context.Context) (bool, error) {
	ends, err := one.admin.ListEndOffsets(ctx, one.input)
	if err != nil {
		return false, err
	}
	committed, err := one.admin.FetchOffsets(ctx, one.group)
	if err != nil {
		return false, err
	}
	end := true
	ends.Each(func(wanted kadm.ListedOffset) {
		found, ok := committed.Lookup(wanted.Topic, wanted.Partition)
		end = end && ok && found.At >= wanted.Offset
	})
	return end, nil
}

// Whether another has taken this one's place.
func fenced(err error) bool {
	for _, kind := range []error{kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.FencedInstanceID} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
