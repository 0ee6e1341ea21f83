// Package kafkastub starts Kafka brokers for tests: real clients, milliseconds to start, and a clock, faults and waits in the
// hands of the test.
//
//	func TestAnOrderIsShipped(t *testing.T) {
//		stub := kafkastub.Start(t, kafkastub.WithTopic("orders", 3))
//		producer, err := kgo.NewClient(kgo.SeedBrokers(stub.BootstrapServers))
//		…
//		stub.Clock.Advance(t.Context(), 7*24*time.Hour)
//	}
//
// Each test has a broker of its own, which ends with the test. When the test fails, its log has what the broker was asked.
// No Python is needed: import the packaged command with
//
//	import _ "github.com/kafkastub/kafkastub-go/binary"
//
// or name a command by the environment variable KAFKASTUB. No broker outlives the test process, however that ends.
package kafkastub
