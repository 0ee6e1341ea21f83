// Package kafkastub asks the control port of a stub, `kafkastub serve --control-port 0`. Take it into your own tests.
package kafkastub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Control is a stub that is held from outside.
type Control struct {
	url string
}

// New takes what `serve` prints: http://HOST:PORT.
func New(url string) *Control {
	return &Control{url}
}

// Refused is an answer that says no; a wait that was in vain has the status 408, and says what it last saw.
type Refused struct {
	Status   int
	Sentence string `json:"error"`
	Code     string `json:"code"` // of Kafka, where it is Kafka that refuses
}

func (refused *Refused) Error() string {
	return fmt.Sprintf("%s (%d)", refused.Sentence, refused.Status)
}

// Clock is broker time.
type Clock struct {
	Now    time.Time `json:"now"`
	Frozen bool      `json:"frozen"`
}

// Freeze lets broker time stand still.
func (control *Control) Freeze(ctx context.Context) (now Clock, err error) {
	err = control.post(ctx, "/v1/clock/freeze", nil, &now)
	return now, err
}

// Unfreeze lets it go on from where it stands.
func (control *Control) Unfreeze(ctx context.Context) (now Clock, err error) {
	err = control.post(ctx, "/v1/clock/unfreeze", nil, &now)
	return now, err
}

// Advance moves it forward. When it returns, all that fell due on the way has happened.
func (control *Control) Advance(ctx context.Context, by time.Duration) (now Clock, err error) {
	err = control.post(ctx, "/v1/clock/advance", map[string]any{"milliseconds": by.Milliseconds()}, &now)
	return now, err
}

// Snapshot keeps the broker's state under a name, which is free.
func (control *Control) Snapshot(ctx context.Context, id string) error {
	return control.post(ctx, "/v1/snapshots", map[string]any{"id": id}, nil)
}

// Restore makes the broker what it was then. Its clients are disconnected, and come back by themselves.
func (control *Control) Restore(ctx context.Context, id string) error {
	return control.post(ctx, "/v1/snapshots/"+url.PathEscape(id)+"/restore", nil, nil)
}

// Rule is a fault as docs/faults.md has it: {"api": "OffsetCommit", "error": "NOT_COORDINATOR", "times": 3}.
type Rule map[string]any

// Fault is a rule that is there.
type Fault struct {
	control *Control
	ID      string `json:"id"`
}

// AddFault adds a rule behind those that are there.
func (control *Control) AddFault(ctx context.Context, rule Rule) (*Fault, error) {
	fault := &Fault{control: control}
	return fault, control.post(ctx, "/v1/faults", rule, fault)
}

func (fault *Fault) path() string {
	return "/v1/faults/" + url.PathEscape(fault.ID)
}

// WaitHits waits until so many requests have met it.
func (fault *Fault) WaitHits(ctx context.Context, hits int) error {
	return fault.control.wait(ctx, fault.path()+"/wait", url.Values{"hits": {strconv.Itoa(hits)}})
}

// WaitHeld waits until it holds so many requests, or more.
func (fault *Fault) WaitHeld(ctx context.Context, held int) error {
	return fault.control.wait(ctx, fault.path()+"/wait", url.Values{"held": {strconv.Itoa(held)}})
}

// Release lets all requests go that it holds.
func (fault *Fault) Release(ctx context.Context) error {
	return fault.control.post(ctx, fault.path()+"/release", nil, nil)
}

// ReleaseFirst lets the first so many go.
func (fault *Fault) ReleaseFirst(ctx context.Context, n int) error {
	return fault.control.post(ctx, fault.path()+"/release", map[string]any{"n": n}, nil)
}

// Remove takes the rule away; whom it holds goes.
func (fault *Fault) Remove(ctx context.Context) error {
	return fault.control.ask(ctx, http.MethodDelete, fault.path(), nil, nil)
}

// WaitTopic waits until a topic has so many records.
func (control *Control) WaitTopic(ctx context.Context, topic string, records int) error {
	path := "/v1/topics/" + url.PathEscape(topic) + "/wait"
	return control.wait(ctx, path, url.Values{"records": {strconv.Itoa(records)}})
}

// WaitGroup waits until a group is in a state, such as Stable, and has so many members.
func (control *Control) WaitGroup(ctx context.Context, group, state string, members int) error {
	path := "/v1/groups/" + url.PathEscape(group) + "/wait"
	return control.wait(ctx, path, url.Values{"state": {state}, "members": {strconv.Itoa(members)}})
}

// WaitLag waits until a group is behind the end of each partition of a topic by so many records at most.
func (control *Control) WaitLag(ctx context.Context, group, topic string, atMost int) error {
	path := "/v1/groups/" + url.PathEscape(group) + "/wait"
	return control.wait(ctx, path, url.Values{"topic": {topic}, "lag": {strconv.Itoa(atMost)}})
}

// WaitQuiet waits until nothing was asked for so long, but fetches, heartbeats and metadata.
func (control *Control) WaitQuiet(ctx context.Context, quiet time.Duration) error {
	seconds := strconv.FormatFloat(quiet.Seconds(), 'f', -1, 64)
	return control.wait(ctx, "/v1/journal/wait-quiet", url.Values{"seconds": {seconds}})
}

// wait asks for what the broker answers once it is so: within ten seconds.
func (control *Control) wait(ctx context.Context, path string, query url.Values) error {
	query.Set("timeout", "10")
	return control.ask(ctx, http.MethodGet, path+"?"+query.Encode(), nil, nil)
}

func (control *Control) post(ctx context.Context, path string, body, answer any) error {
	return control.ask(ctx, http.MethodPost, path, body, answer)
}

func (control *Control) ask(ctx context.Context, method, path string, body, answer any) error {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, control.url+path, &content)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusBadRequest {
		refused := &Refused{Status: response.StatusCode, Sentence: response.Status}
		json.NewDecoder(response.Body).Decode(refused)
		return refused
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
