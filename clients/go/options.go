package kafkastub

import "time"

// Option says what a stub is to be.
type Option func(*StubOptions)

// WithName is shown in the launcher's lists; Start gives that of the test.
func WithName(name string) Option { return func(o *StubOptions) { o.Name = name } }

// WithTopic creates a topic before the stub answers.
func WithTopic(name string, partitions int) Option {
	return func(o *StubOptions) {
		if o.Topics == nil {
			o.Topics = map[string]int{}
		}
		o.Topics[name] = partitions
	}
}

// WithConfig sets one of Kafka's broker configurations. A time.Duration is told in milliseconds.
func WithConfig(name string, value any) Option {
	return func(o *StubOptions) {
		if o.Config == nil {
			o.Config = map[string]any{}
		}
		if duration, ok := value.(time.Duration); ok {
			value = duration.Milliseconds()
		}
		o.Config[name] = value
	}
}

// WithProfile is "kips" (the default) or "kafka", Apache Kafka to the letter (docs/profiles.md).
func WithProfile(name string) Option { return func(o *StubOptions) { o.Profile = name } }

// WithAsVersion serves as a release of Apache Kafka does, "3.9" (docs/as-version.md).
func WithAsVersion(release string) Option { return func(o *StubOptions) { o.AsVersion = release } }

// WithNodes is how many nodes the cluster has, and their racks, dealt out in turn.
func WithNodes(count int, racks ...string) Option {
	return func(o *StubOptions) { o.Nodes, o.Racks = count, racks }
}

// WithPort is the port to listen on, where any free one is not good enough.
func WithPort(port int) Option { return func(o *StubOptions) { o.Port = port } }

// WithDataDir keeps everything in a folder, for the next stub that is given it.
func WithDataDir(path string) Option { return func(o *StubOptions) { o.DataDir = path } }

// WithSnapshot begins with what a snapshot's file has.
func WithSnapshot(path string) Option { return func(o *StubOptions) { o.Snapshot = path } }

// WithUser may come in by SASL (PLAIN and SCRAM).
func WithUser(name, password string) Option {
	return func(o *StubOptions) {
		if o.Users == nil {
			o.Users = map[string]string{}
		}
		o.Users[name] = password
	}
}

// WithFault has a rule there from the start.
func WithFault(rule Rule) Option {
	return func(o *StubOptions) { o.Faults = append(o.Faults, rule) }
}

// WithChaos brings trouble that every correct client survives; level is 1 to 3.
func WithChaos(seed, level int) Option {
	return func(o *StubOptions) { o.Chaos, o.ChaosLevel = seed, level }
}

// WithCheck checks guarantees from the start (docs/guarantees.md).
func WithCheck() Option { return func(o *StubOptions) { o.Check = true } }

// WithRegistry has a schema registry beside the stub.
func WithRegistry() Option { return func(o *StubOptions) { o.Registry = true } }

// WithOptions changes whatever has no option of its own.
func WithOptions(change func(*StubOptions)) Option { return change }

// StubOptions is all that a stub may be asked to be; what is empty is left to kafkastub (docs/launcher.md).
type StubOptions struct {
	Name                string            `json:"name,omitempty"`
	Topics              map[string]int    `json:"topics,omitempty"`
	Config              map[string]any    `json:"config,omitempty"`
	ConfigFile          string            `json:"config_file,omitempty"`
	Profile             string            `json:"profile,omitempty"`
	AsVersion           string            `json:"as_version,omitempty"`
	Host                string            `json:"host,omitempty"`
	Port                int               `json:"port,omitempty"`
	Advertised          string            `json:"advertised,omitempty"`
	Nodes               int               `json:"nodes,omitempty"`
	Racks               []string          `json:"racks,omitempty"`
	DataDir             string            `json:"data_dir,omitempty"`
	Snapshot            string            `json:"snapshot,omitempty"`
	Users               map[string]string `json:"users,omitempty"`
	Faults              []Rule            `json:"faults,omitempty"`
	Chaos               any               `json:"chaos,omitempty"` // a seed, or the name of a scenario
	ChaosLevel          int               `json:"chaos_level,omitempty"`
	Journal             any               `json:"journal,omitempty"` // false, or the path of a new folder
	JournalEntries      int               `json:"journal_entries,omitempty"`
	Check               bool              `json:"check,omitempty"`
	ControlHost         string            `json:"control_host,omitempty"`
	ControlPort         int               `json:"control_port,omitempty"`
	ControlAllowedHosts []string          `json:"control_allowed_hosts,omitempty"`
	ControlToken        string            `json:"control_token,omitempty"`
	Registry            bool              `json:"registry,omitempty"`
	RegistryHost        string            `json:"registry_host,omitempty"`
	RegistryPort        *int              `json:"registry_port,omitempty"`
}
