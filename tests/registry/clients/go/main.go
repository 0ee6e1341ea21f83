// Command schemas plays what tests/registry/test_other_clients.py asks of each client, with franz-go's sr, and prints
// what it saw as one line of JSON.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/hamba/avro/v2"
	"github.com/twmb/franz-go/pkg/sr"
	"google.golang.org/protobuf/encoding/protowire"
)

type asked struct{ One, Two, Refused, JSON, Protobuf string }

type order struct {
	ID   int64   `avro:"id" json:"id"`
	Note *string `avro:"note" json:"note,omitempty"`
}

type refusal struct {
	Status  int    `json:"status"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func refusalOf(err error) *refusal {
	var response *sr.ResponseError
	if !errors.As(err, &response) {
		return nil
	}
	return &refusal{response.StatusCode, response.ErrorCode, response.Message}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	var schemas asked
	must(0, json.Unmarshal([]byte(os.Args[2]), &schemas))
	ctx := context.Background()
	registry := must(sr.NewClient(sr.URLs(os.Args[1])))
	create := func(subject, text string, kind sr.SchemaType) int {
		return must(registry.CreateSchema(ctx, subject, sr.Schema{Schema: text, Type: kind})).ID
	}

	var serde sr.Serde
	one, two := avro.MustParse(schemas.One), avro.MustParse(schemas.Two)
	first := create("orders-value", schemas.One, sr.TypeAvro)
	serde.Register(first, order{}, sr.EncodeFn(func(value any) ([]byte, error) { return avro.Marshal(one, value) }))
	written := must(serde.Encode(order{ID: 7}))
	second := create("orders-value", schemas.Two, sr.TypeAvro)
	serde.Register(second, order{}, sr.EncodeFn(func(value any) ([]byte, error) { return avro.Marshal(two, value) }))
	note := "x"
	later := must(serde.Encode(order{8, &note}))
	_, refused := registry.CreateSchema(ctx, "orders-value", sr.Schema{Schema: schemas.Refused})
	_, unknown := registry.SchemaByVersion(ctx, "nothing", -1)

	// A reader that knows nothing but the bytes and its own schema.
	read := func(value []byte) (found order) {
		id, content, err := serde.DecodeID(value)
		writer := avro.MustParse(must(registry.SchemaTextByID(ctx, must(id, err))))
		resolved := must(avro.NewSchemaCompatibility().Resolve(two, writer))
		must(0, avro.Unmarshal(resolved, content, &found))
		return found
	}

	asJSON := create("json-value", schemas.JSON, sr.TypeJSON)
	serde.Register(asJSON, map[string]int{}, sr.EncodeFn(json.Marshal))
	asProtobuf := create("protobuf-value", schemas.Protobuf, sr.TypeProtobuf)
	serde.Register(asProtobuf, int64(0), sr.Index(0), sr.EncodeFn(func(value any) ([]byte, error) {
		return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(value.(int64))), nil
	}))

	fmt.Println(string(must(json.Marshal(map[string]any{
		"ids":     []int{first, second, asJSON, asProtobuf},
		"latest":  must(registry.SchemaByVersion(ctx, "orders-value", -1)).ID,
		"again":   create("orders-value", schemas.One, sr.TypeAvro),
		"refused": refusalOf(refused),
		"unknown": refusalOf(unknown),
		"old":     read(written),
		"new":     read(later),
		"written": map[string][]string{
			"orders":   {hex.EncodeToString(written), hex.EncodeToString(later)},
			"json":     {hex.EncodeToString(must(serde.Encode(map[string]int{"id": 7})))},
			"protobuf": {hex.EncodeToString(must(serde.Encode(int64(7))))},
		},
	}))))
}
