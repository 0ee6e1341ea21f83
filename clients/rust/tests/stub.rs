use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use kafkastub::*;

const WEEK: Duration = Duration::from_secs(7 * 86_400);

fn answers(address: &str) -> bool {
    TcpStream::connect(address).is_ok()
}

#[test]
fn a_stub_has_its_own_topics_and_ends_when_it_is_dropped() -> Result<()> {
    let stub = Stub::options().topic("orders", 3).start()?;
    let other = Stub::start()?;
    let topics = stub.topics().list()?;
    assert_eq!((topics.total, topics.topics[0].name.as_str(), topics.topics[0].partitions), (1, "orders", 3));
    assert_eq!(other.topics().list()?.total, 0);
    let address = stub.bootstrap_servers().to_string();
    assert!(answers(&address));
    drop(stub);
    assert!(!answers(&address));
    let address = other.bootstrap_servers().to_string();
    other.close()?;
    assert!(!answers(&address));
    Ok(())
}

#[test]
fn the_test_moves_the_clock() -> Result<()> {
    let stub = Stub::start()?;
    let before = stub.clock().freeze()?;
    let after = stub.clock().advance(WEEK)?;
    assert_eq!(after.now_ms - before.now_ms, WEEK.as_millis() as i64);
    assert!(after.frozen);
    let in_2040 = UNIX_EPOCH + Duration::from_secs(2_208_988_800);
    assert_eq!(stub.clock().set(in_2040)?.now, "2040-01-01T00:00:00.000Z");
    let step = stub.clock().advance_with(Advance::new().by("1h30m"))?;
    assert_eq!(step.now, "2040-01-01T01:30:00.000Z");
    Ok(())
}

#[test]
fn records_are_written_read_and_waited_for() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let written = stub.topics().produce(
        "orders",
        [
            GivenRecord::new().key("7").value("two teapots").headers([("from", "shop")]),
            GivenRecord::new().value(json!({"json": {"cups": 1}})),
        ],
    )?;
    assert_eq!(written.records.iter().map(|record| record.offset).collect::<Vec<_>>(), [0, 1]);
    stub.topics().wait_records("orders", 2)?;
    let records = stub.topics().records("orders")?.records;
    assert_eq!(records[0].value, "two teapots");
    assert_eq!(records[0].headers, [["from", "shop"]]);
    assert_eq!(records[1].value, r#"{"cups":1}"#);
    let second = TopicsReadParams::new().offset(1).limit(1);
    assert_eq!(stub.topics().records_with("orders", second)?.records, records[1..]);
    assert_eq!(stub.topics().raw("orders", 0, 0, "value")?, b"two teapots");
    assert_eq!(stub.topics().search("orders", TopicsSearchParams::new("teapot"))?.records.len(), 1);
    Ok(())
}

#[test]
fn a_wait_that_is_in_vain_says_what_was_last_seen() -> Result<()> {
    let stub = Stub::start()?;
    let stable = GroupsWaitParams::new().state("Stable").timeout(Duration::from_millis(10));
    let why = stub.groups().wait("a group/with:signs", stable).unwrap_err();
    assert!(why.is_timeout() && why.to_string().contains("a group/with:signs"), "{why}");
    Ok(())
}

#[test]
fn a_value_of_a_list_is_a_parameter_each() -> Result<()> {
    let stub = Stub::start()?;
    let why = stub.transactions().list_with(TransactionsListParams::new().state(["Ongoing", "Asleep"])).unwrap_err();
    assert!(why.status() == Some(400) && why.to_string().contains("Asleep"), "{why}");
    assert_eq!(stub.transactions().list_with(TransactionsListParams::new().state(["Ongoing", "Dead"]))?.total, 0);
    Ok(())
}

#[test]
fn what_is_refused_names_the_field() {
    for (options, says) in [
        (Stub::options().config("num.partitions", 0), "num.partitions=0"),
        (Stub::options().topic("orders", 0), "topic 'orders'"),
        (Stub::options().profile("apache"), "profile='apache'"),
        (Stub::options().nodes(1000), "nodes=1000"),
    ] {
        let why = options.start().unwrap_err();
        assert!(why.status() == Some(400) && why.to_string().contains(says), "{why}");
        assert_eq!(format!("{why:?}"), why.to_string());
    }
}

#[test]
fn a_port_in_use_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let why = Stub::options().port(port).start().unwrap_err();
    assert!(why.to_string().contains(&format!("port {port} on 127.0.0.1 is taken")), "{why}");
}

#[test]
fn options_make_the_stub() -> Result<()> {
    let slow = Rule::new().api("Fetch").delay_ms(1).name("slow");
    let stub = Stub::options()
        .topic("orders", 1)
        .config("offsets.retention.minutes", 60)
        .nodes(3)
        .racks(["a", "b"])
        .fault(slow)
        .registry(true)
        .check(true)
        .chaos(7, 1)
        .start()?;
    assert_eq!(stub.faults().list()?.faults[0].id, "slow");
    assert_eq!(stub.bootstrap_servers().split(',').count(), 3);
    let racks: Vec<_> = stub.nodes().list()?.nodes.into_iter().map(|node| node.rack.unwrap()).collect();
    assert_eq!(racks, ["a", "b", "a"]);
    assert_eq!(stub.broker().config()?.set["offsets.retention.minutes"].as_deref(), Some("60"));
    assert!(stub.registry_url().is_some_and(|url| answers(url.trim_start_matches("http://"))));
    assert!(stub.broker().check()?.findings.is_empty());
    assert_eq!(stub.chaos().show()?.seed, Some(7));
    Ok(())
}

#[test]
fn a_rule_is_added_met_and_removed() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let door = stub.faults().add(Rule::new().api("Metadata").hold("before"))?;
    let mut client = TcpStream::connect(stub.bootstrap_servers()).unwrap();
    client.write_all(&metadata("orders")).unwrap();
    assert_eq!(door.wait_held(1)?.held.len(), 1);
    assert_eq!(stub.faults().holds()?.requests.len(), 1);
    door.release()?;
    client.read_exact(&mut [0]).unwrap();
    assert_eq!(door.wait_hits(1)?.hits, 1);
    let id = door.id().to_string();
    door.remove()?;
    assert_eq!(stub.faults().show(&id).unwrap_err().status(), Some(404));
    Ok(())
}

#[test]
fn a_snapshot_is_taken_restored_and_kept_in_a_file() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    stub.snapshots().take("seed")?;
    stub.topics().create(NewTopic::new("audit").partitions(2))?;
    stub.snapshots().restore("seed")?;
    assert_eq!(stub.topics().list()?.total, 1);
    let mut file = Vec::new();
    stub.snapshots().download("seed")?.read_to_end(&mut file).unwrap();
    let other = Stub::start()?;
    other.snapshots().upload("seed", file.as_slice())?;
    other.snapshots().restore("seed")?;
    assert_eq!(other.topics().list()?.topics[0].name, "orders");
    Ok(())
}

#[test]
fn the_journal_is_followed() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let mut entries = stub.journal().follow(JournalFollowParams::new().api("Metadata"))?;
    let mut client = TcpStream::connect(stub.bootstrap_servers()).unwrap();
    client.write_all(&metadata("orders")).unwrap();
    assert_eq!(entries.next().unwrap()["client_id"], "x");
    let found = stub.journal().wait(JournalWaitParams::new().api("Metadata"))?;
    let decoded = stub.journal().decode(found["sequence"].as_i64().unwrap())?;
    assert!(decoded.request.is_some_and(|frame| !frame.fields.is_empty()));
    assert!(stub.journal().export()?.lines().next().unwrap().unwrap().contains("Metadata"));
    stub.journal().wait_quiet(Duration::from_millis(10))?;
    drop(stub);
    assert!(entries.next().is_none());
    Ok(())
}

#[test]
fn an_act_of_chaos_is_done_again() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let act = ActBody::new("Metadata").delay_ms(1);
    stub.chaos().start(WantedChaos::new().acts([act]))?;
    let acts_after_a_request = || -> Result<Vec<ActInfo>> {
        let mut client = TcpStream::connect(stub.bootstrap_servers()).unwrap();
        client.write_all(&metadata("orders")).unwrap();
        client.read_exact(&mut [0]).unwrap();
        Ok(stub.chaos().show()?.acts)
    };
    let again: Vec<_> = acts_after_a_request()?.into_iter().filter_map(|act| act.again).collect();
    assert_eq!(again.iter().map(|act| (act.api.as_str(), act.delay_ms)).collect::<Vec<_>>(), [("Metadata", Some(1))]);
    stub.chaos().start(WantedChaos::new().acts(again.clone()))?;
    let done = acts_after_a_request()?;
    assert_eq!(done[0].again.as_ref(), again.first());
    Ok(())
}

/// Every answer of a stub without clients is as described: the types of the crate read it.
#[test]
fn answers_are_as_described() -> Result<()> {
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    let options = Stub::options().topic("orders", 1).user("alice", "secret");
    let stub = options.config("authorizer.class.name", authorizer).start()?;
    let (broker, acls, groups) = (stub.broker(), stub.acls(), stub.groups());
    broker.index()?;
    broker.health()?;
    assert!(broker.metrics()?.contains("# TYPE"));
    broker.summary()?;
    broker.causes()?;
    broker.configs()?;
    broker.protocol()?;
    let quota = QuotaChange::new([("producer_byte_rate", 1000.0)]).user("alice");
    stub.quotas().alter(quota)?;
    assert_eq!(stub.quotas().list()?.quotas.len(), 1);
    let entry = NewAcl::new().principal("User:alice").operation("READ").resource_type("TOPIC").resource_name("orders");
    acls.add(entry)?;
    assert_eq!(acls.list()?.total, 1);
    let may = AclsAccessParams::new().principal("User:alice").operation("READ");
    assert!(acls.access(may.resource_type("TOPIC").resource_name("orders"))?.allowed);
    acls.remove_with(AclsRemoveParams::new().principal("User:alice"))?;
    groups.list()?;
    assert_eq!(groups.expire()?.expired_offsets, 0);
    assert_eq!(groups.describe("shipping").unwrap_err().status(), Some(404));
    stub.share_groups().configure("parcels", NewConfigs::new([("share.auto.offset.reset", "earliest")]))?;
    stub.share_groups().list()?;
    stub.streams_groups().list()?;
    stub.transactions().hang(NewHanging::new("orders"))?;
    assert_eq!(stub.transactions().hanging()?.hanging.len(), 1);
    let node = stub.nodes().add(Some("a"))?.node;
    assert_eq!(stub.nodes().move_leader(MoveLeader::new("orders", 0, node))?.node, node);
    stub.nodes().stop(node)?;
    stub.nodes().start(node)?;
    stub.nodes().advertised()?;
    stub.clock().forecast_with(ClockForecastParams::new().within(["7d"]))?;
    stub.chaos().start(WantedChaos::new().acts([ActBody::new("Fetch").drop("after")]))?;
    stub.chaos().stop()?;
    stub.snapshots().take("seed")?;
    assert_eq!(stub.snapshots().list()?.snapshots.len(), 1);
    broker.reset()?;
    Ok(())
}

#[test]
fn stubs_in_parallel() {
    let start = |partitions: i64| {
        let stub = Stub::options().topic("orders", partitions).start().unwrap();
        assert_eq!(stub.topics().describe("orders").unwrap().partitions, partitions);
    };
    thread::scope(|threads| {
        for partitions in 1..=20 {
            threads.spawn(move || start(partitions));
        }
    });
}

#[test]
fn a_control_port_that_is_there_already_is_asked_too() -> Result<()> {
    let stub = Stub::options().topic("orders", 1).start()?;
    let control = Control::new(&format!("{}/", stub.url()), None);
    assert_eq!(control.topics().list()?.total, 1);
    assert_eq!(control.clock().freeze().unwrap_err().status(), Some(401));
    let url = stub.url().to_string();
    drop(stub);
    let why = Control::new(&url, None).topics().list().unwrap_err();
    assert!(why.to_string().starts_with("kafkastub: GET /v1/topics got no answer: "), "{why}");
    Ok(())
}

/// Runs a test of this file in a process of its own.
fn apart(test: &str) -> Command {
    let mut suite = Command::new(env::current_exe().unwrap());
    suite.args([test, "--exact", "--nocapture"]).env("KAFKASTUB_TEST_APART", test).env("KAFKASTUB_LAUNCHER", "");
    suite
}

fn is_apart(test: &str) -> bool {
    env::var("KAFKASTUB_TEST_APART").is_ok_and(|apart| apart == test)
}

/// Metadata 4 of a topic, correlation 7, client "x".
fn metadata(topic: &str) -> Vec<u8> {
    let mut request = vec![0, 3, 0, 4, 0, 0, 0, 7, 0, 1, b'x', 0, 0, 0, 1, 0, topic.len() as u8];
    request.extend_from_slice(topic.as_bytes());
    request.push(0);
    [&(request.len() as u32).to_be_bytes(), request.as_slice()].concat()
}

#[test]
fn a_panic_shows_why_clients_wait_and_what_the_stub_was_asked() {
    const NAME: &str = "a_panic_shows_why_clients_wait_and_what_the_stub_was_asked";
    if is_apart(NAME) {
        let stub = Stub::options().topic("orders", 1).start().unwrap();
        let mut client = TcpStream::connect(stub.bootstrap_servers()).unwrap();
        client.write_all(&metadata("order")).unwrap();
        client.read_exact(&mut [0]).unwrap();
        println!("the stub is {}", stub.bootstrap_servers());
        panic!("no order arrived");
    }
    let done = apart(NAME).output().unwrap();
    let text = String::from_utf8(done.stderr).unwrap();
    let why = "why clients may wait:\n  Topic 'order' does not exist; x asked for it once. Did you mean 'orders'?\n";
    let (before, after) = text.split_once(why).unwrap_or_else(|| panic!("{text}"));
    assert!(before.contains("no order arrived") && after.contains("Metadata v4"), "{text}");
    let output = String::from_utf8(done.stdout).unwrap();
    let address = output.lines().find_map(|line| line.split_once("the stub is ")).unwrap().1;
    assert!(!answers(address), "the stub outlives the panic");
}

#[test]
fn kill_9_leaves_no_broker_behind() {
    const NAME: &str = "kill_9_leaves_no_broker_behind";
    if is_apart(NAME) {
        let stub = Stub::start().unwrap();
        println!("\nthe stub is {}", stub.bootstrap_servers());
        loop {
            thread::park();
        }
    }
    let mut suite = apart(NAME).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(suite.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let address = lines.filter_map(|line| Some(line.strip_prefix("the stub is ")?.to_string())).next().unwrap();
    assert!(answers(&address));
    suite.kill().unwrap();
    suite.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(180);
    while answers(&address) {
        assert!(Instant::now() < deadline, "{address} still answers");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn processes_share_a_launcher() {
    const NAME: &str = "processes_share_a_launcher";
    if is_apart(NAME) {
        println!("\nthe stub is {}", Stub::start().unwrap().id());
        return;
    }
    let mut launcher = Command::new(command(None).unwrap())
        .args(["launcher", "--token", "secret"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(launcher.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let url = ready.split_whitespace().find(|word| word.starts_with("http://")).unwrap();
    let [first, second] = [(); 2].map(|()| {
        let done = apart(NAME).env("KAFKASTUB_LAUNCHER", format!("{url}#secret")).output().unwrap();
        String::from_utf8(done.stdout)
            .unwrap()
            .split_once("the stub is ")
            .unwrap()
            .1
            .lines()
            .next()
            .unwrap()
            .to_string()
    });
    assert_ne!(first, second); // each launcher of its own would have the same first stub
    drop(launcher.stdin.take());
    launcher.wait().unwrap();
}

#[test]
fn a_stub_is_named_after_its_test_and_has_a_listener() -> Result<()> {
    let stub = Stub::start()?;
    let listeners = BTreeMap::from([("PLAINTEXT".to_string(), stub.bootstrap_servers().to_string())]);
    assert_eq!(stub.listeners(), &listeners);
    assert!(stub.ca_file().is_none() && stub.id().starts_with("stub-"));
    Ok(())
}
