//! The subjects of the control port, each with its requests. A call that is refused is an [`Error`](crate::Error).
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate)]

use std::io::{self, BufRead, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::control::{Control, Stream};
use crate::error::Result;
use crate::types::*;

/// A request with its answer: the columns of docs/journal.md, and `text`, a line for people.
pub type Entry = serde_json::Map<String, Value>;

/// How long a wait lasts if its parameters do not say it.
const PATIENCE_SECONDS: f64 = 10.0;

macro_rules! patient {
    ($wanted:expr) => {{
        let mut wanted = $wanted;
        wanted.timeout.get_or_insert(PATIENCE_SECONDS);
        wanted
    }};
}

fn millis(duration: Duration) -> f64 {
    duration.as_millis() as f64
}

/// Broker time: it stamps records and commits, and drives every retention. docs/control.md describes it.
#[derive(Debug, Clone)]
pub struct Clock(pub(crate) Control);

impl Clock {
    /// Broker time.
    pub fn show(&self) -> Result<ClockState> {
        self.0.send("GET", "/v1/clock", &[]).json()
    }

    /// Stops broker time until you move it.
    pub fn freeze(&self) -> Result<ClockState> {
        self.0.send("POST", "/v1/clock/freeze", &[]).json()
    }

    /// Lets broker time run again from where it is.
    pub fn unfreeze(&self) -> Result<ClockState> {
        self.0.send("POST", "/v1/clock/unfreeze", &[]).json()
    }

    /// Moves broker time forward. When this returns, everything that was due in between has happened, each at its time.
    pub fn advance(&self, by: Duration) -> Result<ClockState> {
        self.advance_with(Advance::new().milliseconds(millis(by)))
    }

    /// The same, and sessions, rebalances and long polls get older by the same time.
    pub fn advance_timers(&self, by: Duration) -> Result<ClockState> {
        self.advance_with(Advance::new().milliseconds(millis(by)).timers(true))
    }

    /// A step forward in several units, or as a text: `Advance::new().by("1h30m")`.
    pub fn advance_with(&self, step: Advance) -> Result<ClockState> {
        self.0.send("POST", "/v1/clock/advance", &[]).body(step).json()
    }

    /// Moves broker time to a moment: forward only, except on a stub without state.
    pub fn set(&self, to: SystemTime) -> Result<ClockState> {
        let since_1970 = match to.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_millis() as i64,
            Err(before) => -(before.duration().as_millis() as i64),
        };
        self.0.send("POST", "/v1/clock/set", &[]).body(SetClock::new(since_1970)).json()
    }

    /// What would be gone if broker time went on, the next first.
    pub fn forecast(&self) -> Result<Forecast> {
        self.forecast_with(ClockForecastParams::new())
    }

    /// The same, with parameters.
    pub fn forecast_with(&self, params: ClockForecastParams) -> Result<Forecast> {
        self.0.send("GET", "/v1/clock/forecast", &[]).query(params).json()
    }
}

/// Rules that say which requests fail, wait or are delayed. docs/faults.md describes them.
#[derive(Debug, Clone)]
pub struct Faults(pub(crate) Control);

impl Faults {
    /// Adds a rule after those that are there.
    pub fn add(&self, rule: Rule) -> Result<Fault> {
        let state: FaultState = self.0.send("POST", "/v1/faults", &[]).body(rule).json()?;
        Ok(Fault { id: state.id, control: self.0.clone() })
    }

    /// The rules that are there, in their order.
    pub fn list(&self) -> Result<FaultList> {
        self.0.send("GET", "/v1/faults", &[]).json()
    }

    /// Removes all rules. The requests that they hold continue.
    pub fn clear(&self) -> Result<RemovedFaults> {
        self.0.send("DELETE", "/v1/faults", &[]).json()
    }

    /// A rule, and how often it matched.
    pub fn show(&self, id: &str) -> Result<FaultState> {
        self.0.send("GET", "/v1/faults/{fault_id}", &[id]).json()
    }

    /// All that is held: requests, transaction markers, acknowledgements, revocations.
    pub fn holds(&self) -> Result<HoldList> {
        self.0.send("GET", "/v1/holds", &[]).json()
    }
}

/// A rule that was added. It stays when this is dropped.
#[derive(Debug, Clone)]
pub struct Fault {
    id: String,
    control: Control,
}

impl Fault {
    /// Its id, or its name if it has one.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How often the rule matched, and what it holds.
    pub fn show(&self) -> Result<FaultState> {
        self.control.faults().show(&self.id)
    }

    /// Waits until so many requests have matched the rule.
    pub fn wait_hits(&self, hits: impl Into<i64>) -> Result<FaultState> {
        self.wait(FaultsWaitParams::new().hits(hits))
    }

    /// Waits until the rule holds so many requests, or more.
    pub fn wait_held(&self, held: impl Into<i64>) -> Result<FaultState> {
        self.wait(FaultsWaitParams::new().held(held))
    }

    /// Waits until so many requests have matched the rule, or are held by it.
    pub fn wait(&self, params: FaultsWaitParams) -> Result<FaultState> {
        self.control.send("GET", "/v1/faults/{fault_id}/wait", &[&self.id]).query(patient!(params)).json()
    }

    /// Lets all requests continue that the rule holds.
    pub fn release(&self) -> Result<Released> {
        self.release_with(Release::new())
    }

    /// Lets the first so many continue.
    pub fn release_first(&self, n: impl Into<i64>) -> Result<Released> {
        self.release_with(Release::new().n(n))
    }

    /// Lets some of them continue.
    pub fn release_with(&self, which: Release) -> Result<Released> {
        self.control.send("POST", "/v1/faults/{fault_id}/release", &[&self.id]).body(which).json()
    }

    /// Removes the rule. The requests that it holds continue.
    pub fn remove(self) -> Result<RemovedFaults> {
        self.control.send("DELETE", "/v1/faults/{fault_id}", &[&self.id]).json()
    }
}

/// Random faults that every correct client survives. docs/chaos.md describes them.
#[derive(Debug, Clone)]
pub struct Chaos(pub(crate) Control);

impl Chaos {
    /// The state of chaos, and what it has done.
    pub fn show(&self) -> Result<ChaosInfo> {
        self.0.send("GET", "/v1/chaos", &[]).json()
    }

    /// Starts a seed, acts or a scenario.
    pub fn start(&self, wanted: WantedChaos) -> Result<ChaosInfo> {
        self.0.send("PUT", "/v1/chaos", &[]).body(wanted).json()
    }

    /// Ends chaos.
    pub fn stop(&self) -> Result<ChaosInfo> {
        self.0.send("DELETE", "/v1/chaos", &[]).json()
    }
}

/// The requests that the stub received, with its answers. docs/journal.md describes it.
#[derive(Debug, Clone)]
pub struct Journal(pub(crate) Control);

impl Journal {
    /// The newest entries, or with `since` the oldest from there on.
    pub fn query(&self) -> Result<JournalPage> {
        self.query_with(JournalQueryParams::new())
    }

    /// The same, with parameters.
    pub fn query_with(&self, params: JournalQueryParams) -> Result<JournalPage> {
        self.0.send("GET", "/v1/journal", &[]).query(params).json()
    }

    /// Removes all entries.
    pub fn clear(&self) -> Result<ClearedJournal> {
        self.0.send("DELETE", "/v1/journal", &[]).json()
    }

    /// Returns the first answered request that matches, as soon as there is one.
    pub fn wait(&self, params: JournalWaitParams) -> Result<Entry> {
        let found = self.0.send("GET", "/v1/journal/wait", &[]).query(patient!(params)).json::<FoundEntry>()?;
        Ok(found.entry)
    }

    /// Waits until no request came for so long, except fetches, heartbeats and metadata.
    pub fn wait_quiet(&self, quiet: Duration) -> Result<Quiet> {
        self.wait_quiet_with(JournalWaitQuietParams::new().seconds(quiet))
    }

    /// The same, ignoring other APIs.
    pub fn wait_quiet_with(&self, params: JournalWaitQuietParams) -> Result<Quiet> {
        self.0.send("GET", "/v1/journal/wait-quiet", &[]).query(patient!(params)).json()
    }

    /// An entry field by field, with its bytes.
    pub fn decode(&self, sequence: i64) -> Result<Decoded> {
        self.decode_with(sequence, JournalDecodeParams::new())
    }

    /// The same, with parameters.
    pub fn decode_with(&self, sequence: i64, params: JournalDecodeParams) -> Result<Decoded> {
        self.0.send("GET", "/v1/journal/{sequence}", &[&sequence.to_string()]).query(params).json()
    }

    /// All entries, as JSON lines or Parquet.
    pub fn export(&self) -> Result<Stream> {
        self.export_with(JournalExportParams::new())
    }

    /// The same, with parameters.
    pub fn export_with(&self, params: JournalExportParams) -> Result<Stream> {
        self.0.send("GET", "/v1/journal/export", &[]).query(params).stream()
    }

    /// Entries from now on. The iterator waits for the next one, and ends with the stub.
    pub fn follow(&self, params: JournalFollowParams) -> Result<impl Iterator<Item = Entry> + Send> {
        let lines = self.0.send("GET", "/v1/journal/follow", &[]).query(params).stream()?.lines();
        // An empty line says that the connection is alive.
        Ok(lines.map_while(io::Result::ok).filter_map(|line| serde_json::from_str(&line).ok()))
    }
}

/// The topics with their records.
#[derive(Debug, Clone)]
pub struct Topics(pub(crate) Control);

impl Topics {
    /// The topics.
    pub fn list(&self) -> Result<TopicList> {
        self.list_with(TopicsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: TopicsListParams) -> Result<TopicList> {
        self.0.send("GET", "/v1/topics", &[]).query(params).json()
    }

    /// Creates a topic. Clients see it at once.
    pub fn create(&self, topic: NewTopic) -> Result<TopicInfo> {
        self.0.send("POST", "/v1/topics", &[]).body(topic).json()
    }

    /// A topic with its partitions.
    pub fn describe(&self, name: &str) -> Result<TopicDetail> {
        self.describe_with(name, TopicsDescribeParams::new())
    }

    /// The same, with parameters.
    pub fn describe_with(&self, name: &str, params: TopicsDescribeParams) -> Result<TopicDetail> {
        self.0.send("GET", "/v1/topics/{name}", &[name]).query(params).json()
    }

    /// Deletes a topic.
    pub fn delete(&self, name: &str) -> Result<TopicInfo> {
        self.0.send("DELETE", "/v1/topics/{name}", &[name]).json()
    }

    /// Waits until a topic is there, with so many partitions and so many records that match.
    pub fn wait(&self, name: &str, params: TopicsWaitParams) -> Result<TopicReached> {
        self.0.send("GET", "/v1/topics/{name}/wait", &[name]).query(patient!(params)).json()
    }

    /// Waits until a topic has so many records.
    pub fn wait_records(&self, name: &str, records: impl Into<i64>) -> Result<TopicReached> {
        self.wait(name, TopicsWaitParams::new().records(records))
    }

    /// Writes records without a client.
    pub fn produce(&self, name: &str, records: impl IntoIterator<Item = GivenRecord>) -> Result<Written> {
        let body = GivenRecords::new(records);
        self.0.send("POST", "/v1/topics/{name}/records", &[name]).body(body).json()
    }

    /// The records of a partition, read without a client.
    pub fn records(&self, name: &str) -> Result<Records> {
        self.records_with(name, TopicsReadParams::new())
    }

    /// The same, with parameters.
    pub fn records_with(&self, name: &str, params: TopicsReadParams) -> Result<Records> {
        self.0.send("GET", "/v1/topics/{name}/records", &[name]).query(params).json()
    }

    /// The records with a text in their key, value or headers.
    pub fn search(&self, name: &str, params: TopicsSearchParams) -> Result<FoundRecords> {
        self.0.send("GET", "/v1/topics/{name}/search", &[name]).query(params).json()
    }

    /// The offset of the first record at or after a time.
    pub fn offset_at(&self, name: &str, params: TopicsAtTimeParams) -> Result<AtTime> {
        self.0.send("GET", "/v1/topics/{name}/offset", &[name]).query(params).json()
    }

    /// Keys or values, decoded by a schema.
    pub fn avro(&self, name: &str, query: AvroQuery) -> Result<AvroRecords> {
        self.0.send("POST", "/v1/topics/{name}/avro", &[name]).body(query).json()
    }

    /// The bytes of the `key` or the `value` of a record.
    pub fn raw(&self, name: &str, partition: i64, offset: i64, part: &str) -> Result<Vec<u8>> {
        self.0
            .send(
                "GET",
                "/v1/topics/{name}/partitions/{partition}/records/{offset}/{part}",
                &[name, &partition.to_string(), &offset.to_string(), part],
            )
            .bytes()
    }
}

/// The groups of the classic and the consumer protocol. docs/consumer-groups.md describes them.
#[derive(Debug, Clone)]
pub struct Groups(pub(crate) Control);

impl Groups {
    /// The groups.
    pub fn list(&self) -> Result<GroupList> {
        self.list_with(GroupsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: GroupsListParams) -> Result<GroupList> {
        self.0.send("GET", "/v1/groups", &[]).query(params).json()
    }

    /// A group with its members and offsets, and when each offset expires.
    pub fn describe(&self, group: &str) -> Result<GroupDetail> {
        self.describe_with(group, GroupsDescribeParams::new())
    }

    /// The same, with parameters.
    pub fn describe_with(&self, group: &str, params: GroupsDescribeParams) -> Result<GroupDetail> {
        self.0.send("GET", "/v1/groups/{group}", &[group]).query(params).json()
    }

    /// Deletes a group.
    pub fn delete(&self, group: &str) -> Result<GroupInfo> {
        self.0.send("DELETE", "/v1/groups/{group}", &[group]).json()
    }

    /// Each partition that a group reads or has an offset of.
    pub fn partitions(&self, group: &str) -> Result<GroupPartitions> {
        self.partitions_with(group, GroupsListPartitionsParams::new())
    }

    /// The same, with parameters.
    pub fn partitions_with(&self, group: &str, params: GroupsListPartitionsParams) -> Result<GroupPartitions> {
        self.0.send("GET", "/v1/groups/{group}/partitions", &[group]).query(params).json()
    }

    /// Why the members of a group may get no records.
    pub fn findings(&self, group: &str) -> Result<FindingList> {
        self.0.send("GET", "/v1/groups/{group}/findings", &[group]).json()
    }

    /// Waits until a group is in a state, has so many members, or has at most so much lag.
    pub fn wait(&self, group: &str, params: GroupsWaitParams) -> Result<GroupReached> {
        self.0.send("GET", "/v1/groups/{group}/wait", &[group]).query(patient!(params)).json()
    }

    /// Waits until a group is stable with so many members.
    pub fn wait_stable(&self, group: &str, members: impl Into<i64>) -> Result<GroupReached> {
        self.wait(group, GroupsWaitParams::new().state("Stable").members(members))
    }

    /// Waits until a group is behind the end of each partition of a topic by at most so many records.
    pub fn wait_lag(&self, group: &str, topic: &str, lag: impl Into<i64>) -> Result<GroupReached> {
        self.wait(group, GroupsWaitParams::new().topic(topic).lag(lag))
    }

    /// Waits until members have exactly these partitions.
    pub fn wait_assigned(&self, group: &str, wanted: WantedAssignment) -> Result<GroupReached> {
        self.0.send("POST", "/v1/groups/{group}/wait-assigned", &[group]).body(patient!(wanted)).json()
    }

    /// Sets what the members are to have.
    pub fn set_target(&self, group: &str, target: NewTarget) -> Result<GroupDetail> {
        self.0.send("PUT", "/v1/groups/{group}/target", &[group]).body(target).json()
    }

    /// Holds the partitions that a member gives up in a rebalance.
    pub fn hold_revocation(&self, group: &str, member: &str) -> Result<RevocationHold> {
        self.0.send("POST", "/v1/groups/{group}/hold-revocation", &[group]).body(MemberGiven::new(member)).json()
    }

    /// Lets other members have them.
    pub fn release_revocation(&self, group: &str, member: &str) -> Result<RevocationHold> {
        self.0.send("POST", "/v1/groups/{group}/release-revocation", &[group]).body(MemberGiven::new(member)).json()
    }

    /// Ends a member's session, as its timeout does.
    pub fn end_session(&self, group: &str, member: &str) -> Result<SessionEnded> {
        self.0.send("POST", "/v1/groups/{group}/end-session", &[group]).body(MemberGiven::new(member)).json()
    }

    /// Removes the offsets that have expired by now.
    pub fn expire(&self) -> Result<ExpiredOffsets> {
        self.0.send("POST", "/v1/groups/expire", &[]).json()
    }
}

/// The groups of share consumers. docs/share-groups.md describes them.
#[derive(Debug, Clone)]
pub struct ShareGroups(pub(crate) Control);

impl ShareGroups {
    /// The groups.
    pub fn list(&self) -> Result<ShareGroupList> {
        self.list_with(ShareGroupsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: ShareGroupsListParams) -> Result<ShareGroupList> {
        self.0.send("GET", "/v1/share-groups", &[]).query(params).json()
    }

    /// A group with its members, and the member that has acquired each record.
    pub fn describe(&self, group: &str) -> Result<ShareGroupDetail> {
        self.describe_with(group, ShareGroupsDescribeParams::new())
    }

    /// The same, with parameters.
    pub fn describe_with(&self, group: &str, params: ShareGroupsDescribeParams) -> Result<ShareGroupDetail> {
        self.0.send("GET", "/v1/share-groups/{group}", &[group]).query(params).json()
    }

    /// Configures a group. It need not exist yet.
    pub fn configure(&self, group: &str, configs: NewConfigs) -> Result<Configured> {
        self.0.send("PUT", "/v1/share-groups/{group}/configs", &[group]).body(configs).json()
    }

    /// Waits until members have acquired records, acknowledgements are held, or the lag is at most this.
    pub fn wait(&self, group: &str, params: ShareGroupsWaitParams) -> Result<ShareGroupReached> {
        self.0.send("GET", "/v1/share-groups/{group}/wait", &[group]).query(patient!(params)).json()
    }

    /// The same, with what is waited for in a body.
    pub fn wait_for(&self, group: &str, wanted: ShareWanted) -> Result<ShareGroupReached> {
        self.0.send("POST", "/v1/share-groups/{group}/wait", &[group]).body(patient!(wanted)).json()
    }

    /// Holds all acknowledgements: they have no effect until they are released.
    pub fn hold_acknowledgements(&self, group: &str) -> Result<ShareGroupInfo> {
        self.0.send("POST", "/v1/share-groups/{group}/hold-acknowledgements", &[group]).json()
    }

    /// Lets them have their effect.
    pub fn release_acknowledgements(&self, group: &str) -> Result<ShareGroupInfo> {
        self.0.send("POST", "/v1/share-groups/{group}/release-acknowledgements", &[group]).json()
    }

    /// Ends a member's session, as its timeout does.
    pub fn end_session(&self, group: &str, member: &str) -> Result<SessionEnded> {
        self.0.send("POST", "/v1/share-groups/{group}/end-session", &[group]).body(MemberGiven::new(member)).json()
    }
}

/// The groups of Kafka Streams. docs/streams-groups.md describes them.
#[derive(Debug, Clone)]
pub struct StreamsGroups(pub(crate) Control);

impl StreamsGroups {
    /// The groups.
    pub fn list(&self) -> Result<StreamsGroupList> {
        self.list_with(StreamsGroupsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: StreamsGroupsListParams) -> Result<StreamsGroupList> {
        self.0.send("GET", "/v1/streams-groups", &[]).query(params).json()
    }

    /// A group: its topology, its status, its members with their tasks.
    pub fn describe(&self, group: &str) -> Result<StreamsGroupDetail> {
        self.0.send("GET", "/v1/streams-groups/{group}", &[group]).json()
    }

    /// Configures a group. It need not exist yet.
    pub fn configure(&self, group: &str, configs: StreamsConfigs) -> Result<StreamsConfigured> {
        self.0.send("PUT", "/v1/streams-groups/{group}/configs", &[group]).body(configs).json()
    }

    /// Waits until so many members have every task, or the group has a status.
    pub fn wait(&self, group: &str, params: StreamsGroupsWaitQueryParams) -> Result<StreamsGroupInfo> {
        self.0.send("GET", "/v1/streams-groups/{group}/wait", &[group]).query(patient!(params)).json()
    }

    /// Waits until members have these tasks.
    pub fn wait_for(&self, group: &str, wanted: StreamsWanted) -> Result<StreamsGroupInfo> {
        self.0.send("POST", "/v1/streams-groups/{group}/wait", &[group]).body(patient!(wanted)).json()
    }

    /// Lets a member ask for the end of the whole application.
    pub fn shut_down(&self, group: &str, member: &str) -> Result<StreamsGroupInfo> {
        self.0.send("POST", "/v1/streams-groups/{group}/shut-down", &[group]).body(MemberGiven::new(member)).json()
    }

    /// Ends a member's session, as its timeout does.
    pub fn end_session(&self, group: &str, member: &str) -> Result<SessionEnded> {
        self.0.send("POST", "/v1/streams-groups/{group}/end-session", &[group]).body(MemberGiven::new(member)).json()
    }
}

/// The transactional ids with their transactions. docs/transactions.md describes them.
#[derive(Debug, Clone)]
pub struct Transactions(pub(crate) Control);

impl Transactions {
    /// The transactional ids.
    pub fn list(&self) -> Result<TransactionList> {
        self.list_with(TransactionsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: TransactionsListParams) -> Result<TransactionList> {
        self.0.send("GET", "/v1/transactions", &[]).query(params).json()
    }

    /// A transactional id; with `state`, as soon as it is in one.
    pub fn show(&self, transactional_id: &str) -> Result<TransactionInfo> {
        self.show_with(transactional_id, TransactionsShowParams::new())
    }

    /// The same, with parameters.
    pub fn show_with(&self, transactional_id: &str, params: TransactionsShowParams) -> Result<TransactionInfo> {
        self.0.send("GET", "/v1/transactions/{transactional_id}", &[transactional_id]).query(params).json()
    }

    /// Waits until a transactional id is in a state, such as `Ongoing`.
    pub fn wait_state(&self, transactional_id: &str, state: &str) -> Result<TransactionInfo> {
        self.show_with(transactional_id, patient!(TransactionsShowParams::new().state(state)))
    }

    /// Aborts the open transaction, as its timeout does.
    pub fn abort(&self, transactional_id: &str) -> Result<TransactionInfo> {
        self.0.send("POST", "/v1/transactions/{transactional_id}/abort", &[transactional_id]).json()
    }

    /// Holds the markers of its transactions from now on.
    pub fn hold_markers(&self, transactional_id: &str) -> Result<MarkerHold> {
        self.0.send("POST", "/v1/transactions/{transactional_id}/hold", &[transactional_id]).json()
    }

    /// Writes them.
    pub fn release_markers(&self, transactional_id: &str) -> Result<MarkerHold> {
        self.0.send("POST", "/v1/transactions/{transactional_id}/release", &[transactional_id]).json()
    }

    /// The open transactions that nothing is going to end.
    pub fn hanging(&self) -> Result<HangingList> {
        self.0.send("GET", "/v1/hanging-transactions", &[]).json()
    }

    /// Makes a hanging transaction.
    pub fn hang(&self, place: NewHanging) -> Result<HangingInfo> {
        self.0.send("POST", "/v1/hanging-transactions", &[]).body(place).json()
    }

    /// Ends a hanging transaction.
    pub fn end_hanging(&self, which: HangingEnd) -> Result<HangingInfo> {
        self.0.send("POST", "/v1/hanging-transactions/abort", &[]).body(which).json()
    }
}

/// The stub's state, kept by name. docs/without-sleeps.md describes them.
#[derive(Debug, Clone)]
pub struct Snapshots(pub(crate) Control);

impl Snapshots {
    /// Keeps the state under a name.
    pub fn take(&self, id: &str) -> Result<SnapshotInfo> {
        self.0.send("POST", "/v1/snapshots", &[]).body(NewSnapshot::new().id(id)).json()
    }

    /// Brings the stub back to a snapshot. Clients are disconnected, and reconnect by themselves.
    pub fn restore(&self, id: &str) -> Result<SnapshotInfo> {
        self.0.send("POST", "/v1/snapshots/{snapshot_id}/restore", &[id]).json()
    }

    /// The snapshots, the oldest first.
    pub fn list(&self) -> Result<SnapshotList> {
        self.0.send("GET", "/v1/snapshots", &[]).json()
    }

    /// A snapshot.
    pub fn show(&self, id: &str) -> Result<SnapshotInfo> {
        self.0.send("GET", "/v1/snapshots/{snapshot_id}", &[id]).json()
    }

    /// Deletes a snapshot.
    pub fn delete(&self, id: &str) -> Result<DeletedSnapshot> {
        self.0.send("DELETE", "/v1/snapshots/{snapshot_id}", &[id]).json()
    }

    /// A snapshot as a file.
    pub fn download(&self, id: &str) -> Result<Stream> {
        self.0.send("GET", "/v1/snapshots/{snapshot_id}/file", &[id]).stream()
    }

    /// Keeps such a file as a snapshot.
    pub fn upload(&self, id: &str, file: impl Read) -> Result<SnapshotInfo> {
        self.0.send("PUT", "/v1/snapshots/{snapshot_id}/file", &[id]).file(file)
    }
}

/// The nodes of the cluster, and what each of them leads. docs/nodes.md describes them.
#[derive(Debug, Clone)]
pub struct Nodes(pub(crate) Control);

impl Nodes {
    /// The nodes.
    pub fn list(&self) -> Result<NodeList> {
        self.0.send("GET", "/v1/nodes", &[]).json()
    }

    /// A node.
    pub fn show(&self, node: i64) -> Result<NodeInfo> {
        self.0.send("GET", "/v1/nodes/{node_id}", &[&node.to_string()]).json()
    }

    /// Adds a node, on a rack or on none.
    pub fn add(&self, rack: Option<&str>) -> Result<NodeInfo> {
        let mut body = NewNode::new();
        body.rack = rack.map(Into::into);
        self.0.send("POST", "/v1/nodes", &[]).body(body).json()
    }

    /// Stops a node.
    pub fn stop(&self, node: i64) -> Result<NodeInfo> {
        self.0.send("POST", "/v1/nodes/{node_id}/stop", &[&node.to_string()]).json()
    }

    /// Starts a node that was stopped.
    pub fn start(&self, node: i64) -> Result<NodeInfo> {
        self.0.send("POST", "/v1/nodes/{node_id}/start", &[&node.to_string()]).json()
    }

    /// Lets a node lead a partition.
    pub fn move_leader(&self, to: MoveLeader) -> Result<Leads> {
        self.0.send("POST", "/v1/leaders", &[]).body(to).json()
    }

    /// Lets a node coordinate a group or a transactional id.
    pub fn move_coordinator(&self, to: MoveCoordinator) -> Result<Leads> {
        self.0.send("POST", "/v1/coordinators", &[]).body(to).json()
    }

    /// The addresses that clients get.
    pub fn advertised(&self) -> Result<Advertised> {
        self.0.send("GET", "/v1/advertised", &[]).json()
    }

    /// Gives them another address.
    pub fn advertise(&self, address: Advertise) -> Result<Advertised> {
        self.0.send("PUT", "/v1/advertised", &[]).body(address).json()
    }
}

/// The rates that clients may use. docs/quotas.md describes them.
#[derive(Debug, Clone)]
pub struct Quotas(pub(crate) Control);

impl Quotas {
    /// The clients that have quotas.
    pub fn list(&self) -> Result<QuotaList> {
        self.list_with(QuotasListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: QuotasListParams) -> Result<QuotaList> {
        self.0.send("GET", "/v1/quotas", &[]).query(params).json()
    }

    /// Sets or removes quotas.
    pub fn alter(&self, change: QuotaChange) -> Result<QuotaInfo> {
        self.0.send("POST", "/v1/quotas", &[]).body(change).json()
    }
}

/// The entries that say which principal may do what. docs/security.md describes them.
#[derive(Debug, Clone)]
pub struct Acls(pub(crate) Control);

impl Acls {
    /// The entries that match.
    pub fn list(&self) -> Result<AclList> {
        self.list_with(AclsListParams::new())
    }

    /// The same, with parameters.
    pub fn list_with(&self, params: AclsListParams) -> Result<AclList> {
        self.0.send("GET", "/v1/acls", &[]).query(params).json()
    }

    /// Adds an entry.
    pub fn add(&self, entry: NewAcl) -> Result<AclInfo> {
        self.0.send("POST", "/v1/acls", &[]).body(entry).json()
    }

    /// Removes the entries that match.
    pub fn remove(&self) -> Result<RemovedAcls> {
        self.remove_with(AclsRemoveParams::new())
    }

    /// The same, with parameters.
    pub fn remove_with(&self, params: AclsRemoveParams) -> Result<RemovedAcls> {
        self.0.send("DELETE", "/v1/acls", &[]).query(params).json()
    }

    /// Whether a principal may do something, and the entries about it.
    pub fn access(&self, params: AclsAccessParams) -> Result<AccessInfo> {
        self.0.send("GET", "/v1/acls/access", &[]).query(params).json()
    }
}

/// The stub as a whole.
#[derive(Debug, Clone)]
pub struct Broker(pub(crate) Control);

impl Broker {
    /// The requests of the control port.
    pub fn index(&self) -> Result<Index> {
        self.0.send("GET", "/", &[]).json()
    }

    /// Whether clients can begin. If something is missing, the request is refused with the status 503.
    pub fn health(&self) -> Result<Health> {
        self.health_with(HealthParams::new())
    }

    /// The same, with parameters.
    pub fn health_with(&self, params: HealthParams) -> Result<Health> {
        self.0.send("GET", "/health", &[]).query(params).json()
    }

    /// Prometheus' text format.
    pub fn metrics(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.0.send("GET", "/metrics", &[]).bytes()?).into_owned())
    }

    /// How much there is of everything.
    pub fn summary(&self) -> Result<Summary> {
        self.0.send("GET", "/v1/summary", &[]).json()
    }

    /// Server-sent events that say what has changed: "groups,topics".
    pub fn events(&self, subjects: &str) -> Result<Stream> {
        self.0.send("GET", "/v1/events", &[]).query(EventsParams::new(subjects)).stream()
    }

    /// Why clients may wait: at most eight sentences, the most likely cause first.
    pub fn causes(&self) -> Result<CauseList> {
        self.causes_with(CausesListParams::new())
    }

    /// The same, with parameters.
    pub fn causes_with(&self, params: CausesListParams) -> Result<CauseList> {
        self.0.send("GET", "/v1/causes", &[]).query(params).json()
    }

    /// What the application did to its records. docs/guarantees.md describes the verdict.
    pub fn check(&self) -> Result<VerdictInfo> {
        self.check_with(CheckParams::new())
    }

    /// The same, with parameters.
    pub fn check_with(&self, params: CheckParams) -> Result<VerdictInfo> {
        self.0.send("GET", "/v1/check", &[]).query(params).json()
    }

    /// The configuration, without passwords.
    pub fn config(&self) -> Result<ConfigInfo> {
        self.0.send("GET", "/v1/config", &[]).json()
    }

    /// The configuration value by value, with every place that sets it.
    pub fn configs(&self) -> Result<ConfigList> {
        self.configs_with(ConfigsParams::new())
    }

    /// The same, with parameters.
    pub fn configs_with(&self, params: ConfigsParams) -> Result<ConfigList> {
        self.0.send("GET", "/v1/configs", &[]).query(params).json()
    }

    /// The APIs that are served, and Kafka's errors.
    pub fn protocol(&self) -> Result<Protocol> {
        self.0.send("GET", "/v1/protocol", &[]).json()
    }

    /// Replaces the broker by a fresh one at the same addresses.
    pub fn reset(&self) -> Result<ResetInfo> {
        self.0.send("POST", "/v1/reset", &[]).json()
    }
}
