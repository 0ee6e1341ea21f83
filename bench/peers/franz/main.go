// Command franz sends or reads records with franz-go as fast as it can, a client for the benchmarks.
//
// It prints one line of JSON, {"records": n, "seconds": s}: from the first record sent to the last acknowledgement, or
// from the first answer with records to the last one, without the records of the first.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	broker      = flag.String("broker", "", "host:port")
	topic       = flag.String("topic", "", "topic")
	records     = flag.Int64("records", 0, "records in all")
	size        = flag.Int("size", 1024, "bytes of a record's value")
	clients     = flag.Int("clients", 1, "clients at the same time")
	compression = flag.String("compression", "none", "codec of batches")
	read        = flag.Bool("read", false, "read: one client as a group, several a partition each")
	group       = flag.String("group", "", "group of the one reader")
	limit       = flag.Duration("limit", time.Minute, "the longest that it may take")
)

func main() {
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	run := send // returns how many records took how long
	if *read {
		run = receive
	}
	counted, taken, err := run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "franz:", err)
		os.Exit(1)
	}
	fmt.Printf("{\"records\": %d, \"seconds\": %.6f}\n", counted, taken.Seconds())
}

func connect(options func(number int) []kgo.Opt) ([]*kgo.Client, error) {
	var all []*kgo.Client
	for number := range *clients {
		client, err := kgo.NewClient(append(options(number), kgo.SeedBrokers(*broker))...)
		if err != nil {
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

func codec() (kgo.CompressionCodec, error) {
	known := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	found, ok := known[*compression]
	if !ok {
		return found, fmt.Errorf("-compression=%s: there is none of that name", *compression)
	}
	return found, nil
}

// values are made before the clock starts: as many as make a record's neighbours differ.
func values() [][]byte {
	random := rand.New(rand.NewSource(0))
	made := make([][]byte, 1000)
	for n := range made {
		made[n] = make([]byte, *size)
		for i := range made[n] {
			made[n][i] = byte('A' + random.Intn(26))
		}
	}
	return made
}

func send(ctx context.Context) (int64, time.Duration, error) {
	chosen, err := codec()
	if err != nil {
		return 0, 0, err
	}
	all, err := connect(func(int) []kgo.Opt {
		return []kgo.Opt{kgo.DefaultProduceTopic(*topic), kgo.ProducerBatchCompression(chosen)}
	})
	if err != nil {
		return 0, 0, err
	}
	made := values()
	var failed atomic.Pointer[error]
	promise := func(_ *kgo.Record, err error) {
		if err != nil {
			failed.CompareAndSwap(nil, &err)
		}
	}
	begin := time.Now()
	var done sync.WaitGroup
	for n, client := range all {
		mine := *records / int64(len(all))
		if n == 0 {
			mine += *records % int64(len(all))
		}
		done.Go(func() {
			for i := range mine {
				client.Produce(ctx, &kgo.Record{Value: made[i%int64(len(made))]}, promise)
			}
			if err := client.Flush(ctx); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		})
	}
	done.Wait()
	taken := time.Since(begin)
	for _, client := range all {
		client.Close()
	}
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	return *records, taken, nil
}

// reading has one partition for each of several clients: the rebalances of a group would be measured with them.
func reading(number int) []kgo.Opt {
	start := kgo.NewOffset().AtStart()
	if *clients > 1 {
		mine := map[int32]kgo.Offset{int32(number): start}
		return []kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{*topic: mine})}
	}
	return []kgo.Opt{
		kgo.ConsumeTopics(*topic), kgo.ConsumerGroup(*group), kgo.ConsumeResetOffset(start), kgo.DisableAutoCommit(),
	}
}

func receive(ctx context.Context) (int64, time.Duration, error) {
	all, err := connect(reading)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var got, before, first, last atomic.Int64
	var done sync.WaitGroup
	for _, client := range all {
		done.Go(func() {
			for ctx.Err() == nil {
				count := int64(client.PollFetches(ctx).NumRecords())
				if count == 0 {
					continue
				}
				now := time.Now().UnixNano()
				if first.CompareAndSwap(0, now) {
					before.Store(count)
				}
				if got.Add(count) >= *records {
					last.Store(now)
					cancel()
				}
			}
		})
	}
	done.Wait()
	for _, client := range all {
		client.Close()
	}
	if got.Load() < *records {
		return 0, 0, fmt.Errorf("read %d of %d records within %s", got.Load(), *records, *limit)
	}
	return got.Load() - before.Load(), time.Duration(last.Load() - first.Load()), nil
}
