package kafkastub

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Clock is broker time: it stamps records and commits, and drives every retention. See docs/control.md.
type Clock struct{ c *Client }

// Show gives broker time.
func (p *Clock) Show(ctx context.Context) (*ClockState, error) {
	return ask[ClockState](ctx, p.c, "GET", "/v1/clock", nil, nil, nil)
}

// Freeze lets broker time stand still until it is moved.
func (p *Clock) Freeze(ctx context.Context) (*ClockState, error) {
	return ask[ClockState](ctx, p.c, "POST", "/v1/clock/freeze", nil, nil, nil)
}

// Unfreeze lets it go on from where it stands.
func (p *Clock) Unfreeze(ctx context.Context) (*ClockState, error) {
	return ask[ClockState](ctx, p.c, "POST", "/v1/clock/unfreeze", nil, nil, nil)
}

// Advance moves broker time forward. When it returns, all that fell due on the way has happened, each at its own time.
func (p *Clock) Advance(ctx context.Context, by time.Duration) (*ClockState, error) {
	return p.advance(ctx, by, false)
}

// AdvanceTimers does so, and sessions, rebalances and long polls get as much older.
func (p *Clock) AdvanceTimers(ctx context.Context, by time.Duration) (*ClockState, error) {
	return p.advance(ctx, by, true)
}

func (p *Clock) advance(ctx context.Context, by time.Duration, timers bool) (*ClockState, error) {
	body := map[string]any{"milliseconds": by.Milliseconds(), "timers": timers}
	return ask[ClockState](ctx, p.c, "POST", "/v1/clock/advance", nil, nil, body)
}

// Set moves broker time to a moment: forward only, except on a stub without state.
func (p *Clock) Set(ctx context.Context, to time.Time) (*ClockState, error) {
	return ask[ClockState](ctx, p.c, "POST", "/v1/clock/set", nil, nil, map[string]any{"to": to.UnixMilli()})
}

// Forecast gives what would be gone if broker time went on, the next first.
func (p *Clock) Forecast(ctx context.Context, params *ClockForecastParams) (*Forecast, error) {
	return ask[Forecast](ctx, p.c, "GET", "/v1/clock/forecast", nil, params, nil)
}

// Faults are rules: what goes wrong, and when. See docs/faults.md.
type Faults struct{ c *Client }

// Rule is a fault: the requests that it matches, and what happens to them.
type Rule = FaultsAddJSONBody

// Fault is a rule that was added.
type Fault struct {
	*FaultState
	p *Faults
}

// Add adds a rule behind those that are there.
func (p *Faults) Add(ctx context.Context, rule Rule) (*Fault, error) {
	state, err := ask[FaultState](ctx, p.c, "POST", "/v1/faults", nil, nil, rule)
	return &Fault{state, p}, err
}

// List gives the rules that are there, in their order.
func (p *Faults) List(ctx context.Context) (*FaultList, error) {
	return ask[FaultList](ctx, p.c, "GET", "/v1/faults", nil, nil, nil)
}

// Clear removes all rules.
func (p *Faults) Clear(ctx context.Context) (*RemovedFaults, error) {
	return ask[RemovedFaults](ctx, p.c, "DELETE", "/v1/faults", nil, nil, nil)
}

// Show gives a rule, and what has come of it.
func (p *Faults) Show(ctx context.Context, id string) (*FaultState, error) {
	return ask[FaultState](ctx, p.c, "GET", "/v1/faults/{fault_id}", in(id), nil, nil)
}

// Holds gives all that is held: requests, transaction markers, acknowledgements, revocations.
func (p *Faults) Holds(ctx context.Context) (*HoldList, error) {
	return ask[HoldList](ctx, p.c, "GET", "/v1/holds", nil, nil, nil)
}

// Show gives what has come of the rule until now.
func (f *Fault) Show(ctx context.Context) (*FaultState, error) { return f.p.Show(ctx, f.ID) }

// WaitHits waits until so many requests have met the rule.
func (f *Fault) WaitHits(ctx context.Context, hits int) (*FaultState, error) {
	return f.wait(ctx, &FaultsWaitParams{Hits: &hits})
}

// WaitHeld waits until the rule holds so many requests, or more.
func (f *Fault) WaitHeld(ctx context.Context, held int) (*FaultState, error) {
	return f.wait(ctx, &FaultsWaitParams{Held: &held})
}

func (f *Fault) wait(ctx context.Context, params *FaultsWaitParams) (*FaultState, error) {
	params.Timeout = new(float64(patience.Seconds()))
	return ask[FaultState](ctx, f.p.c, "GET", "/v1/faults/{fault_id}/wait", in(f.ID), params, nil)
}

// Release lets all requests go that the rule holds.
func (f *Fault) Release(ctx context.Context) (*Released, error) { return f.release(ctx, Release{}) }

// ReleaseFirst lets the first so many go.
func (f *Fault) ReleaseFirst(ctx context.Context, n int) (*Released, error) {
	return f.release(ctx, Release{N: &n})
}

// ReleaseConnection lets those of one connection go, by the number that the journal gives it.
func (f *Fault) ReleaseConnection(ctx context.Context, connection int) (*Released, error) {
	return f.release(ctx, Release{Connection: &connection})
}

func (f *Fault) release(ctx context.Context, whom Release) (*Released, error) {
	return ask[Released](ctx, f.p.c, "POST", "/v1/faults/{fault_id}/release", in(f.ID), nil, whom)
}

// Remove takes the rule away; the requests that it holds go.
func (f *Fault) Remove(ctx context.Context) (*RemovedFaults, error) {
	return ask[RemovedFaults](ctx, f.p.c, "DELETE", "/v1/faults/{fault_id}", in(f.ID), nil, nil)
}

// patience is how long a wait lasts that says nothing else: then it is refused with what was last seen.
const patience = 10 * time.Second

// Chaos is trouble that every correct client survives. See docs/chaos.md.
type Chaos struct{ c *Client }

// Show gives what there is of it, and what it has done.
func (p *Chaos) Show(ctx context.Context) (*ChaosInfo, error) {
	return ask[ChaosInfo](ctx, p.c, "GET", "/v1/chaos", nil, nil, nil)
}

// Start begins with a seed, acts or a scenario.
func (p *Chaos) Start(ctx context.Context, wanted WantedChaos) (*ChaosInfo, error) {
	return ask[ChaosInfo](ctx, p.c, "PUT", "/v1/chaos", nil, nil, wanted)
}

// Stop ends it.
func (p *Chaos) Stop(ctx context.Context) (*ChaosInfo, error) {
	return ask[ChaosInfo](ctx, p.c, "DELETE", "/v1/chaos", nil, nil, nil)
}

// Journal has the requests that the stub was asked, with its answers. See docs/journal.md.
type Journal struct{ c *Client }

// Entry is a request with its answer: the columns of docs/journal.md, and "text", a line for people.
type Entry = map[string]any

// Query gives entries: the newest, or with Since the oldest from there on.
func (p *Journal) Query(ctx context.Context, params *JournalQueryParams) (*JournalPage, error) {
	return ask[JournalPage](ctx, p.c, "GET", "/v1/journal", nil, params, nil)
}

// Clear forgets all entries.
func (p *Journal) Clear(ctx context.Context) (*ClearedJournal, error) {
	return ask[ClearedJournal](ctx, p.c, "DELETE", "/v1/journal", nil, nil, nil)
}

// Wait gives the first answered request that matches, as soon as there is one.
func (p *Journal) Wait(ctx context.Context, params *JournalWaitParams) (*FoundEntry, error) {
	return ask[FoundEntry](ctx, p.c, "GET", "/v1/journal/wait", nil, params, nil)
}

// WaitQuiet waits until nothing was asked for so long, except fetches, heartbeats and metadata.
func (p *Journal) WaitQuiet(ctx context.Context, quiet time.Duration) (*Quiet, error) {
	return p.WaitQuietFor(ctx, &JournalWaitQuietParams{Seconds: new(float64(quiet.Seconds())), Timeout: new(float64(patience.Seconds()))})
}

// WaitQuietFor does so, ignoring other APIs.
func (p *Journal) WaitQuietFor(ctx context.Context, params *JournalWaitQuietParams) (*Quiet, error) {
	return ask[Quiet](ctx, p.c, "GET", "/v1/journal/wait-quiet", nil, params, nil)
}

// Decode gives one entry, field by field beside its bytes.
func (p *Journal) Decode(ctx context.Context, sequence int, params *JournalDecodeParams) (*Decoded, error) {
	return ask[Decoded](ctx, p.c, "GET", "/v1/journal/{sequence}", in(sequence), params, nil)
}

// Export gives all entries as JSON lines or Parquet; the caller closes it.
func (p *Journal) Export(ctx context.Context, params *JournalExportParams) (io.ReadCloser, error) {
	return p.c.stream(ctx, "GET", "/v1/journal/export", nil, params)
}

// Follow gives entries from now on, a JSON object a line; empty lines say that it goes on. The caller closes it.
func (p *Journal) Follow(ctx context.Context, params *JournalFollowParams) (io.ReadCloser, error) {
	return p.c.stream(ctx, "GET", "/v1/journal/follow", nil, params)
}

// Topics are the topics with their records.
type Topics struct{ c *Client }

// List gives the topics.
func (p *Topics) List(ctx context.Context, params *TopicsListParams) (*TopicList, error) {
	return ask[TopicList](ctx, p.c, "GET", "/v1/topics", nil, params, nil)
}

// Create creates a topic; clients see it at once.
func (p *Topics) Create(ctx context.Context, topic NewTopic) (*TopicInfo, error) {
	return ask[TopicInfo](ctx, p.c, "POST", "/v1/topics", nil, nil, topic)
}

// Describe gives one topic with its partitions.
func (p *Topics) Describe(ctx context.Context, name string, params *TopicsDescribeParams) (*TopicDetail, error) {
	return ask[TopicDetail](ctx, p.c, "GET", "/v1/topics/{name}", in(name), params, nil)
}

// Delete deletes a topic.
func (p *Topics) Delete(ctx context.Context, name string) (*TopicInfo, error) {
	return ask[TopicInfo](ctx, p.c, "DELETE", "/v1/topics/{name}", in(name), nil, nil)
}

// Wait waits until a topic is there, with so many partitions and so many records that match.
func (p *Topics) Wait(ctx context.Context, name string, params *TopicsWaitParams) (*TopicReached, error) {
	return ask[TopicReached](ctx, p.c, "GET", "/v1/topics/{name}/wait", in(name), params, nil)
}

// WaitRecords waits until a topic has so many records.
func (p *Topics) WaitRecords(ctx context.Context, name string, records int) (*TopicReached, error) {
	return p.Wait(ctx, name, &TopicsWaitParams{Records: &records, Timeout: new(float64(patience.Seconds()))})
}

// Records reads records of a partition, without a client.
func (p *Topics) Records(ctx context.Context, name string, params *TopicsReadParams) (*Records, error) {
	return ask[Records](ctx, p.c, "GET", "/v1/topics/{name}/records", in(name), params, nil)
}

// Produce writes records, without a client.
func (p *Topics) Produce(ctx context.Context, name string, records ...GivenRecord) (*Written, error) {
	return ask[Written](ctx, p.c, "POST", "/v1/topics/{name}/records", in(name), nil, GivenRecords{Records: records})
}

// Search gives records with a text in their key, value or headers.
func (p *Topics) Search(ctx context.Context, name string, params *TopicsSearchParams) (*FoundRecords, error) {
	return ask[FoundRecords](ctx, p.c, "GET", "/v1/topics/{name}/search", in(name), params, nil)
}

// OffsetAt says where in a partition the records from a time on begin.
func (p *Topics) OffsetAt(ctx context.Context, name string, params *TopicsAtTimeParams) (*AtTime, error) {
	return ask[AtTime](ctx, p.c, "GET", "/v1/topics/{name}/offset", in(name), params, nil)
}

// Avro reads keys or values by a schema.
func (p *Topics) Avro(ctx context.Context, name string, query AvroQuery) (*AvroRecords, error) {
	return ask[AvroRecords](ctx, p.c, "POST", "/v1/topics/{name}/avro", in(name), nil, query)
}

// Raw gives the bytes of the "key" or the "value" of one record.
func (p *Topics) Raw(ctx context.Context, name string, partition int, offset int64, part string) ([]byte, error) {
	const path = "/v1/topics/{name}/partitions/{partition}/records/{offset}/{part}"
	return all(p.c.stream(ctx, "GET", path, in(name, partition, offset, part), nil))
}

// Groups are consumer groups, of the classic and of the consumer protocol. See docs/consumer-groups.md.
type Groups struct{ c *Client }

// List gives the groups.
func (p *Groups) List(ctx context.Context, params *GroupsListParams) (*GroupList, error) {
	return ask[GroupList](ctx, p.c, "GET", "/v1/groups", nil, params, nil)
}

// Describe gives one group with its members and offsets, and when each of these expires.
func (p *Groups) Describe(ctx context.Context, group string, params *GroupsDescribeParams) (*GroupDetail, error) {
	return ask[GroupDetail](ctx, p.c, "GET", "/v1/groups/{group}", in(group), params, nil)
}

// Delete deletes a group.
func (p *Groups) Delete(ctx context.Context, group string) (*GroupInfo, error) {
	return ask[GroupInfo](ctx, p.c, "DELETE", "/v1/groups/{group}", in(group), nil, nil)
}

// Partitions gives each partition that a group reads or has an offset of.
func (p *Groups) Partitions(ctx context.Context, group string, params *GroupsListPartitionsParams) (*GroupPartitions, error) {
	return ask[GroupPartitions](ctx, p.c, "GET", "/v1/groups/{group}/partitions", in(group), params, nil)
}

// Findings says why its members get no records, as far as the broker sees it.
func (p *Groups) Findings(ctx context.Context, group string) (*FindingList, error) {
	return ask[FindingList](ctx, p.c, "GET", "/v1/groups/{group}/findings", in(group), nil, nil)
}

// Wait waits until a group is in a state, has so many members, or is behind by so many records at most.
func (p *Groups) Wait(ctx context.Context, group string, params *GroupsWaitParams) (*GroupReached, error) {
	return ask[GroupReached](ctx, p.c, "GET", "/v1/groups/{group}/wait", in(group), params, nil)
}

// WaitStable waits until a group is stable with so many members.
func (p *Groups) WaitStable(ctx context.Context, group string, members int) (*GroupReached, error) {
	return p.Wait(ctx, group, &GroupsWaitParams{State: "Stable", Members: &members, Timeout: new(float64(patience.Seconds()))})
}

// WaitLag waits until a group is behind the end of each partition of a topic by so many records at most.
func (p *Groups) WaitLag(ctx context.Context, group, topic string, lag int) (*GroupReached, error) {
	return p.Wait(ctx, group, &GroupsWaitParams{Topic: topic, Lag: &lag, Timeout: new(float64(patience.Seconds()))})
}

// WaitAssigned waits until members have exactly these partitions.
func (p *Groups) WaitAssigned(ctx context.Context, group string, wanted WantedAssignment) (*GroupReached, error) {
	return ask[GroupReached](ctx, p.c, "POST", "/v1/groups/{group}/wait-assigned", in(group), nil, wanted)
}

// SetTarget says what members are to have.
func (p *Groups) SetTarget(ctx context.Context, group string, target NewTarget) (*GroupDetail, error) {
	return ask[GroupDetail](ctx, p.c, "PUT", "/v1/groups/{group}/target", in(group), nil, target)
}

// HoldRevocation holds back what a member gives up in a rebalance.
func (p *Groups) HoldRevocation(ctx context.Context, group, member string) (*RevocationHold, error) {
	return ask[RevocationHold](ctx, p.c, "POST", "/v1/groups/{group}/hold-revocation", in(group), nil, MemberGiven{Member: member})
}

// ReleaseRevocation lets others have it.
func (p *Groups) ReleaseRevocation(ctx context.Context, group, member string) (*RevocationHold, error) {
	return ask[RevocationHold](ctx, p.c, "POST", "/v1/groups/{group}/release-revocation", in(group), nil, MemberGiven{Member: member})
}

// EndSession does at once what the end of a member's session does.
func (p *Groups) EndSession(ctx context.Context, group, member string) (*SessionEnded, error) {
	return ask[SessionEnded](ctx, p.c, "POST", "/v1/groups/{group}/end-session", in(group), nil, MemberGiven{Member: member})
}

// Expire sweeps for expired offsets now.
func (p *Groups) Expire(ctx context.Context) (*ExpiredOffsets, error) {
	return ask[ExpiredOffsets](ctx, p.c, "POST", "/v1/groups/expire", nil, nil, nil)
}

// ShareGroups are groups of share consumers. See docs/share-groups.md.
type ShareGroups struct{ c *Client }

// List gives the groups.
func (p *ShareGroups) List(ctx context.Context, params *ShareGroupsListParams) (*ShareGroupList, error) {
	return ask[ShareGroupList](ctx, p.c, "GET", "/v1/share-groups", nil, params, nil)
}

// Describe gives one group with its members, and whose its records are.
func (p *ShareGroups) Describe(ctx context.Context, group string, params *ShareGroupsDescribeParams) (*ShareGroupDetail, error) {
	return ask[ShareGroupDetail](ctx, p.c, "GET", "/v1/share-groups/{group}", in(group), params, nil)
}

// Configure configures a group, which need not be there yet.
func (p *ShareGroups) Configure(ctx context.Context, group string, configs NewConfigs) (*Configured, error) {
	return ask[Configured](ctx, p.c, "PUT", "/v1/share-groups/{group}/configs", in(group), nil, configs)
}

// Wait waits until members have acquired records, so many acknowledgements are held, or the lag is so small.
func (p *ShareGroups) Wait(ctx context.Context, group string, params *ShareGroupsWaitParams) (*ShareGroupReached, error) {
	return ask[ShareGroupReached](ctx, p.c, "GET", "/v1/share-groups/{group}/wait", in(group), params, nil)
}

// WaitFor is Wait with what is waited for in a body.
func (p *ShareGroups) WaitFor(ctx context.Context, group string, wanted ShareWanted) (*ShareGroupReached, error) {
	return ask[ShareGroupReached](ctx, p.c, "POST", "/v1/share-groups/{group}/wait", in(group), nil, wanted)
}

// HoldAcknowledgements has nothing become of what members say.
func (p *ShareGroups) HoldAcknowledgements(ctx context.Context, group string) (*ShareGroupInfo, error) {
	return ask[ShareGroupInfo](ctx, p.c, "POST", "/v1/share-groups/{group}/hold-acknowledgements", in(group), nil, nil)
}

// ReleaseAcknowledgements lets it count.
func (p *ShareGroups) ReleaseAcknowledgements(ctx context.Context, group string) (*ShareGroupInfo, error) {
	return ask[ShareGroupInfo](ctx, p.c, "POST", "/v1/share-groups/{group}/release-acknowledgements", in(group), nil, nil)
}

// EndSession does at once what the end of a member's session does.
func (p *ShareGroups) EndSession(ctx context.Context, group, member string) (*SessionEnded, error) {
	return ask[SessionEnded](ctx, p.c, "POST", "/v1/share-groups/{group}/end-session", in(group), nil, MemberGiven{Member: member})
}

// StreamsGroups are groups of Kafka Streams. See docs/streams-groups.md.
type StreamsGroups struct{ c *Client }

// List gives the groups.
func (p *StreamsGroups) List(ctx context.Context, params *StreamsGroupsListParams) (*StreamsGroupList, error) {
	return ask[StreamsGroupList](ctx, p.c, "GET", "/v1/streams-groups", nil, params, nil)
}

// Describe gives one group: what it runs, what it lacks, its members with their tasks.
func (p *StreamsGroups) Describe(ctx context.Context, group string) (*StreamsGroupDetail, error) {
	return ask[StreamsGroupDetail](ctx, p.c, "GET", "/v1/streams-groups/{group}", in(group), nil, nil)
}

// Configure configures a group, which need not be there yet.
func (p *StreamsGroups) Configure(ctx context.Context, group string, configs StreamsConfigs) (*StreamsConfigured, error) {
	return ask[StreamsConfigured](ctx, p.c, "PUT", "/v1/streams-groups/{group}/configs", in(group), nil, configs)
}

// Wait waits until every task is worked on, by so many members, or the group lacks something.
func (p *StreamsGroups) Wait(ctx context.Context, group string, params *StreamsGroupsWaitQueryParams) (*StreamsGroupInfo, error) {
	return ask[StreamsGroupInfo](ctx, p.c, "GET", "/v1/streams-groups/{group}/wait", in(group), params, nil)
}

// WaitFor waits until members have these tasks.
func (p *StreamsGroups) WaitFor(ctx context.Context, group string, wanted StreamsWanted) (*StreamsGroupInfo, error) {
	return ask[StreamsGroupInfo](ctx, p.c, "POST", "/v1/streams-groups/{group}/wait", in(group), nil, wanted)
}

// ShutDown lets a member want the whole application to end.
func (p *StreamsGroups) ShutDown(ctx context.Context, group, member string) (*StreamsGroupInfo, error) {
	return ask[StreamsGroupInfo](ctx, p.c, "POST", "/v1/streams-groups/{group}/shut-down", in(group), nil, MemberGiven{Member: member})
}

// EndSession does at once what the end of a member's session does.
func (p *StreamsGroups) EndSession(ctx context.Context, group, member string) (*SessionEnded, error) {
	return ask[SessionEnded](ctx, p.c, "POST", "/v1/streams-groups/{group}/end-session", in(group), nil, MemberGiven{Member: member})
}

// Transactions are the transactional ids. See docs/transactions.md.
type Transactions struct{ c *Client }

// List gives them.
func (p *Transactions) List(ctx context.Context, params *TransactionsListParams) (*TransactionList, error) {
	return ask[TransactionList](ctx, p.c, "GET", "/v1/transactions", nil, params, nil)
}

// Show gives one; with State once it is in that state.
func (p *Transactions) Show(ctx context.Context, id string, params *TransactionsShowParams) (*TransactionInfo, error) {
	return ask[TransactionInfo](ctx, p.c, "GET", "/v1/transactions/{transactional_id}", in(id), params, nil)
}

// Abort aborts its open transaction, as its timeout would.
func (p *Transactions) Abort(ctx context.Context, id string) (*TransactionInfo, error) {
	return ask[TransactionInfo](ctx, p.c, "POST", "/v1/transactions/{transactional_id}/abort", in(id), nil, nil)
}

// HoldMarkers holds its markers from now on.
func (p *Transactions) HoldMarkers(ctx context.Context, id string) (*MarkerHold, error) {
	return ask[MarkerHold](ctx, p.c, "POST", "/v1/transactions/{transactional_id}/hold", in(id), nil, nil)
}

// ReleaseMarkers writes them.
func (p *Transactions) ReleaseMarkers(ctx context.Context, id string) (*MarkerHold, error) {
	return ask[MarkerHold](ctx, p.c, "POST", "/v1/transactions/{transactional_id}/release", in(id), nil, nil)
}

// Hanging gives the open transactions that nobody is going to end.
func (p *Transactions) Hanging(ctx context.Context) (*HangingList, error) {
	return ask[HangingList](ctx, p.c, "GET", "/v1/hanging-transactions", nil, nil, nil)
}

// Hang makes one.
func (p *Transactions) Hang(ctx context.Context, where NewHanging) (*HangingInfo, error) {
	return ask[HangingInfo](ctx, p.c, "POST", "/v1/hanging-transactions", nil, nil, where)
}

// EndHanging ends one.
func (p *Transactions) EndHanging(ctx context.Context, which HangingEnd) (*HangingInfo, error) {
	return ask[HangingInfo](ctx, p.c, "POST", "/v1/hanging-transactions/abort", nil, nil, which)
}

// Snapshots are the stub's state, kept by name. See docs/without-sleeps.md.
type Snapshots struct{ c *Client }

// Take keeps the state as it is now; an empty name is chosen.
func (p *Snapshots) Take(ctx context.Context, id string) (*SnapshotInfo, error) {
	return ask[SnapshotInfo](ctx, p.c, "POST", "/v1/snapshots", nil, nil, NewSnapshot{ID: id})
}

// Restore puts the stub back to it. Its clients are disconnected, and come back by themselves.
func (p *Snapshots) Restore(ctx context.Context, id string) (*SnapshotInfo, error) {
	return ask[SnapshotInfo](ctx, p.c, "POST", "/v1/snapshots/{snapshot_id}/restore", in(id), nil, nil)
}

// List gives all that are kept, the oldest first.
func (p *Snapshots) List(ctx context.Context) (*SnapshotList, error) {
	return ask[SnapshotList](ctx, p.c, "GET", "/v1/snapshots", nil, nil, nil)
}

// Show describes one.
func (p *Snapshots) Show(ctx context.Context, id string) (*SnapshotInfo, error) {
	return ask[SnapshotInfo](ctx, p.c, "GET", "/v1/snapshots/{snapshot_id}", in(id), nil, nil)
}

// Delete forgets one.
func (p *Snapshots) Delete(ctx context.Context, id string) (*DeletedSnapshot, error) {
	return ask[DeletedSnapshot](ctx, p.c, "DELETE", "/v1/snapshots/{snapshot_id}", in(id), nil, nil)
}

// Download gives it as a file; the caller closes it.
func (p *Snapshots) Download(ctx context.Context, id string) (io.ReadCloser, error) {
	return p.c.stream(ctx, "GET", "/v1/snapshots/{snapshot_id}/file", in(id), nil)
}

// Upload keeps such a file.
func (p *Snapshots) Upload(ctx context.Context, id string, file io.Reader) (*SnapshotInfo, error) {
	return ask[SnapshotInfo](ctx, p.c, "PUT", "/v1/snapshots/{snapshot_id}/file", in(id), nil, file)
}

// Nodes are the nodes of the cluster, and who leads what. See docs/nodes.md.
type Nodes struct{ c *Client }

// List gives the nodes.
func (p *Nodes) List(ctx context.Context) (*NodeList, error) {
	return ask[NodeList](ctx, p.c, "GET", "/v1/nodes", nil, nil, nil)
}

// Show gives one.
func (p *Nodes) Show(ctx context.Context, node int) (*NodeInfo, error) {
	return ask[NodeInfo](ctx, p.c, "GET", "/v1/nodes/{node_id}", in(node), nil, nil)
}

// Add adds one, on a rack or (empty) on none.
func (p *Nodes) Add(ctx context.Context, rack string) (*NodeInfo, error) {
	return ask[NodeInfo](ctx, p.c, "POST", "/v1/nodes", nil, nil, NewNode{Rack: rack})
}

// Stop stops one.
func (p *Nodes) Stop(ctx context.Context, node int) (*NodeInfo, error) {
	return ask[NodeInfo](ctx, p.c, "POST", "/v1/nodes/{node_id}/stop", in(node), nil, nil)
}

// Start lets it come back.
func (p *Nodes) Start(ctx context.Context, node int) (*NodeInfo, error) {
	return ask[NodeInfo](ctx, p.c, "POST", "/v1/nodes/{node_id}/start", in(node), nil, nil)
}

// MoveLeader lets a node lead a partition.
func (p *Nodes) MoveLeader(ctx context.Context, move MoveLeader) (*Leads, error) {
	return ask[Leads](ctx, p.c, "POST", "/v1/leaders", nil, nil, move)
}

// MoveCoordinator lets a node coordinate a group, or a transactional id.
func (p *Nodes) MoveCoordinator(ctx context.Context, move MoveCoordinator) (*Leads, error) {
	return ask[Leads](ctx, p.c, "POST", "/v1/coordinators", nil, nil, move)
}

// Advertised gives what clients are told to connect to.
func (p *Nodes) Advertised(ctx context.Context) (*Advertised, error) {
	return ask[Advertised](ctx, p.c, "GET", "/v1/advertised", nil, nil, nil)
}

// Advertise tells them another address.
func (p *Nodes) Advertise(ctx context.Context, to Advertise) (*Advertised, error) {
	return ask[Advertised](ctx, p.c, "PUT", "/v1/advertised", nil, nil, to)
}

// Quotas are what clients may use. See docs/quotas.md.
type Quotas struct{ c *Client }

// List gives whoever has quotas.
func (p *Quotas) List(ctx context.Context, params *QuotasListParams) (*QuotaList, error) {
	return ask[QuotaList](ctx, p.c, "GET", "/v1/quotas", nil, params, nil)
}

// Alter sets or removes quotas.
func (p *Quotas) Alter(ctx context.Context, change QuotaChange) (*QuotaInfo, error) {
	return ask[QuotaInfo](ctx, p.c, "POST", "/v1/quotas", nil, nil, change)
}

// ACLs say who may do what. See docs/security.md.
type ACLs struct{ c *Client }

// List gives the entries that fit.
func (p *ACLs) List(ctx context.Context, params *AclsListParams) (*ACLList, error) {
	return ask[ACLList](ctx, p.c, "GET", "/v1/acls", nil, params, nil)
}

// Add adds an entry.
func (p *ACLs) Add(ctx context.Context, entry NewACL) (*ACLInfo, error) {
	return ask[ACLInfo](ctx, p.c, "POST", "/v1/acls", nil, nil, entry)
}

// Remove removes the entries that fit.
func (p *ACLs) Remove(ctx context.Context, params *AclsRemoveParams) (*RemovedAcls, error) {
	return ask[RemovedAcls](ctx, p.c, "DELETE", "/v1/acls", nil, params, nil)
}

// Access says whether a principal may do something, and the entries about it.
func (p *ACLs) Access(ctx context.Context, params *AclsAccessParams) (*AccessInfo, error) {
	return ask[AccessInfo](ctx, p.c, "GET", "/v1/acls/access", nil, params, nil)
}

// Broker is the stub as a whole.
type Broker struct{ c *Client }

// Index says what there is.
func (p *Broker) Index(ctx context.Context) (*Index, error) {
	return ask[Index](ctx, p.c, "GET", "/", nil, nil, nil)
}

// Health says whether clients can begin; Refused with the status 503 where something is missing.
func (p *Broker) Health(ctx context.Context, params *HealthParams) (*Health, error) {
	return ask[Health](ctx, p.c, "GET", "/health", nil, params, nil)
}

// Metrics gives Prometheus' text format.
func (p *Broker) Metrics(ctx context.Context) (string, error) {
	text, err := all(p.c.stream(ctx, "GET", "/metrics", nil, nil))
	return string(text), err
}

// Summary says how much there is of everything.
func (p *Broker) Summary(ctx context.Context) (*Summary, error) {
	return ask[Summary](ctx, p.c, "GET", "/v1/summary", nil, nil, nil)
}

// Events gives server-sent events that say what has changed; the caller closes it.
func (p *Broker) Events(ctx context.Context, params *EventsParams) (io.ReadCloser, error) {
	return p.c.stream(ctx, "GET", "/v1/events", nil, params)
}

// Causes says why clients may wait: at most eight sentences, the most likely cause first.
func (p *Broker) Causes(ctx context.Context, params *CausesListParams) (*CauseList, error) {
	return ask[CauseList](ctx, p.c, "GET", "/v1/causes", nil, params, nil)
}

// Check says what the application did to its records. See docs/guarantees.md.
func (p *Broker) Check(ctx context.Context, params *CheckParams) (*VerdictInfo, error) {
	return ask[VerdictInfo](ctx, p.c, "GET", "/v1/check", nil, params, nil)
}

// Config gives the configuration, passwords left out.
func (p *Broker) Config(ctx context.Context) (*ConfigInfo, error) {
	return ask[ConfigInfo](ctx, p.c, "GET", "/v1/config", nil, nil, nil)
}

// Configs gives it value by value, with all that says something of it.
func (p *Broker) Configs(ctx context.Context, params *ConfigsParams) (*ConfigList, error) {
	return ask[ConfigList](ctx, p.c, "GET", "/v1/configs", nil, params, nil)
}

// Protocol gives the APIs that are served, and Kafka's errors.
func (p *Broker) Protocol(ctx context.Context) (*Protocol, error) {
	return ask[Protocol](ctx, p.c, "GET", "/v1/protocol", nil, nil, nil)
}

// Reset puts a fresh broker in the place of this one, at the same addresses.
func (p *Broker) Reset(ctx context.Context) (*ResetInfo, error) {
	return ask[ResetInfo](ctx, p.c, "POST", "/v1/reset", nil, nil, nil)
}

// stream gives an answer's body as it is; the caller closes it.
func (c *Client) stream(ctx context.Context, method, path string, in []string, query any) (io.ReadCloser, error) {
	var response *http.Response
	response, err := c.send(ctx, method, path, in, query, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

func all(body io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}
