package kafkastub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Launcher is a process that starts and ends stubs (docs/launcher.md). It ends with this process, however that ends.
type Launcher struct {
	client  *Client
	process *exec.Cmd
	input   io.Closer
}

const (
	// startSeconds is more than a launcher takes, on a machine with much other work too (docs/launcher.md).
	startSeconds = 180
	mostSaid     = 4000
)

var ready = regexp.MustCompile(`^kafkastub launcher ready on (\S+) \(token (\S+)\)\n$`)

// Shared is the launcher that all of a test process have in common: that of the environment variable KAFKASTUB_LAUNCHER,
// http://HOST:PORT#TOKEN, or one that the first caller starts.
var Shared = sync.OnceValues(func() (*Launcher, error) {
	if at := os.Getenv("KAFKASTUB_LAUNCHER"); at != "" {
		url, token, found := strings.Cut(at, "#")
		if !found {
			return nil, fmt.Errorf("kafkastub: KAFKASTUB_LAUNCHER=%s is refused: expected http://HOST:PORT#TOKEN", at)
		}
		return &Launcher{client: launcherClient(url, token)}, nil
	}
	command, err := Command("")
	if err != nil {
		return nil, err
	}
	return Launch(command)
})

// Launch starts a launcher by a command, with options of `kafkastub launcher`.
func Launch(command string, options ...string) (*Launcher, error) {
	process := exec.Command(command, append([]string{"launcher"}, options...)...)
	said := &beginning{}
	process.Stderr = io.MultiWriter(os.Stderr, said)
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("kafkastub: %s cannot be started: %w", command, err)
	}
	late := time.AfterFunc(startSeconds*time.Second, func() { _ = process.Process.Kill() })
	line, err := bufio.NewReader(output).ReadString('\n')
	late.Stop()
	found := ready.FindStringSubmatch(line)
	if err != nil || found == nil {
		_ = input.Close()
		_ = process.Wait()
		return nil, fmt.Errorf("kafkastub: %s did not start (%v); it said: %q", command, process.ProcessState, line+said.String())
	}
	return &Launcher{launcherClient(found[1], found[2]), process, input}, nil
}

func launcherClient(url, token string) *Client {
	client := NewClient(url, token)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	client.http = &http.Client{Transport: transport}
	return client
}

// Start starts a stub; who asks closes it.
func (launcher *Launcher) Start(ctx context.Context, options ...Option) (*Stub, error) {
	var wanted StubOptions
	for _, option := range options {
		option(&wanted)
	}
	var info struct {
		ID               string            `json:"id"`
		BootstrapServers string            `json:"bootstrap_servers"`
		Listeners        map[string]string `json:"listeners"`
		ControlURL       string            `json:"control_url"`
		ControlToken     string            `json:"control_token"`
		RegistryURL      string            `json:"registry_url"`
		CAFile           string            `json:"ca_file"`
	}
	if err := launcher.client.do(ctx, "POST", "/v1/stubs", nil, nil, wanted, &info); err != nil {
		return nil, err
	}
	return &Stub{
		ID:               info.ID,
		BootstrapServers: info.BootstrapServers,
		Listeners:        info.Listeners,
		CAFile:           info.CAFile,
		RegistryURL:      info.RegistryURL,
		Client:           NewClient(info.ControlURL, info.ControlToken),
		launcher:         launcher,
	}, nil
}

// Close ends the launcher with all its stubs. One that another process has started goes on.
func (launcher *Launcher) Close() error {
	if launcher.process == nil {
		return nil
	}
	return errors.Join(launcher.input.Close(), launcher.process.Wait())
}

// beginning keeps the first bytes of what is written.
type beginning struct {
	mutex sync.Mutex
	text  strings.Builder
}

func (b *beginning) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text.Write(p[:max(0, min(len(p), mostSaid-b.text.Len()))])
	return len(p), nil
}

func (b *beginning) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}
