package kafkastub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
)

// Client asks the control port of one stub; each part has the requests of one subject.
type Client struct {
	Clock         *Clock
	Faults        *Faults
	Chaos         *Chaos
	Journal       *Journal
	Topics        *Topics
	Groups        *Groups
	ShareGroups   *ShareGroups
	StreamsGroups *StreamsGroups
	Transactions  *Transactions
	Snapshots     *Snapshots
	Nodes         *Nodes
	Quotas        *Quotas
	ACLs          *ACLs
	Broker        *Broker
	// ControlURL is http://HOST:PORT; a browser sees the page there.
	ControlURL string

	token string
	http  *http.Client
}

// NewClient asks a control port that is there already: of `kafkastub serve --control-port`, a container, a proxy. The token
// is empty where the port has none.
func NewClient(controlURL, token string) *Client {
	client := &Client{ControlURL: strings.TrimSuffix(controlURL, "/"), token: token, http: http.DefaultClient}
	client.Clock = &Clock{client}
	client.Faults = &Faults{client}
	client.Chaos = &Chaos{client}
	client.Journal = &Journal{client}
	client.Topics = &Topics{client}
	client.Groups = &Groups{client}
	client.ShareGroups = &ShareGroups{client}
	client.StreamsGroups = &StreamsGroups{client}
	client.Transactions = &Transactions{client}
	client.Snapshots = &Snapshots{client}
	client.Nodes = &Nodes{client}
	client.Quotas = &Quotas{client}
	client.ACLs = &ACLs{client}
	client.Broker = &Broker{client}
	return client
}

// Refused is an answer that says no. A wait that was in vain has the status 408, and says what was last seen.
type Refused struct {
	Status   int    `json:"-"`
	Sentence string `json:"error"`
	// Code is the name of Kafka's error code, where it is Kafka that refuses.
	Code string `json:"code"`
}

func (refused *Refused) Error() string { return "kafkastub: " + refused.Sentence }

// Timeout tells whether it is a wait that was in vain.
func (refused *Refused) Timeout() bool { return refused.Status == http.StatusRequestTimeout }

// ask sends a request and reads its answer as JSON.
func ask[Answer any](ctx context.Context, c *Client, method, path string, in []string, query, body any) (*Answer, error) {
	answer := new(Answer)
	if err := c.do(ctx, method, path, in, query, body, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// in is what stands in a path, in the order of its names.
func in(values ...any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return texts
}

func (c *Client) do(ctx context.Context, method, path string, in []string, query, body, answer any) error {
	response, err := c.send(ctx, method, path, in, query, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// send gives an answer that is none of Refused; who asks closes its body.
func (c *Client) send(ctx context.Context, method, path string, in []string, query, body any) (*http.Response, error) {
	var content io.Reader
	switch body := body.(type) {
	case nil:
	case io.Reader:
		content = body
	default:
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.ControlURL+filled(path, in)+asQuery(query), content)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < http.StatusBadRequest {
		return response, nil
	}
	defer response.Body.Close()
	refused := &Refused{Sentence: response.Status}
	_ = json.NewDecoder(response.Body).Decode(refused) // what is no JSON leaves the status
	refused.Status = response.StatusCode
	return nil, refused
}

// filled puts values in the place of a path's {names}.
func filled(path string, in []string) string {
	for _, value := range in {
		begin, end := strings.Index(path, "{"), strings.Index(path, "}")
		path = path[:begin] + url.PathEscape(value) + path[end+1:]
	}
	return path
}

// asQuery writes the fields of a struct of parameters that are set; nil gives nothing.
func asQuery(parameters any) string {
	value := reflect.ValueOf(parameters)
	if !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		return ""
	}
	value = reflect.Indirect(value)
	query := url.Values{}
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		field := value.Field(i)
		if field.Kind() == reflect.Pointer {
			if field.IsNil() {
				continue
			}
			field = field.Elem()
		} else if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Slice {
			for j := range field.Len() {
				query.Add(name, fmt.Sprint(field.Index(j).Interface()))
			}
			continue
		}
		query.Set(name, fmt.Sprint(field.Interface()))
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}
