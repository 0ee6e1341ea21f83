use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::{Agent, Body, BodyReader, SendBody};

use crate::error::{Error, Refused, Result};
use crate::parts::{
    Acls, Broker, Chaos, Clock, Faults, Groups, Journal, Nodes, Quotas, ShareGroups, Snapshots, StreamsGroups, Topics,
    Transactions,
};

/// The control port of one stub. Clones send requests to the same stub, from any thread.
#[derive(Clone)]
pub struct Control(Arc<Port>);

struct Port {
    agent: Agent,
    url: String,
    token: Option<String>,
}

impl fmt::Debug for Control {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Control({})", self.0.url)
    }
}

impl Control {
    /// A control port that is there already, for example of `kafkastub serve --control-port`, a container or a proxy:
    /// http://HOST:PORT, and its token if it has one.
    #[must_use]
    pub fn new(url: &str, token: Option<&str>) -> Control {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_idle_connections(16)
            .max_idle_connections_per_host(16);
        Control(Arc::new(Port {
            agent: config.build().into(),
            url: url.trim_end_matches('/').into(),
            token: token.map(Into::into),
        }))
    }

    /// http://HOST:PORT. A browser shows the stub's page there.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// Broker time: it stamps records and commits, and drives every retention.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock(self.clone())
    }

    /// Rules that say which requests fail, wait or are delayed.
    #[must_use]
    pub fn faults(&self) -> Faults {
        Faults(self.clone())
    }

    /// Random faults that every correct client survives.
    #[must_use]
    pub fn chaos(&self) -> Chaos {
        Chaos(self.clone())
    }

    /// The requests that the stub received, with its answers.
    #[must_use]
    pub fn journal(&self) -> Journal {
        Journal(self.clone())
    }

    /// The topics with their records.
    #[must_use]
    pub fn topics(&self) -> Topics {
        Topics(self.clone())
    }

    /// The groups of the classic and the consumer protocol.
    #[must_use]
    pub fn groups(&self) -> Groups {
        Groups(self.clone())
    }

    /// The groups of share consumers.
    #[must_use]
    pub fn share_groups(&self) -> ShareGroups {
        ShareGroups(self.clone())
    }

    /// The groups of Kafka Streams.
    #[must_use]
    pub fn streams_groups(&self) -> StreamsGroups {
        StreamsGroups(self.clone())
    }

    /// The transactional ids with their transactions.
    #[must_use]
    pub fn transactions(&self) -> Transactions {
        Transactions(self.clone())
    }

    /// The stub's state, kept by name.
    #[must_use]
    pub fn snapshots(&self) -> Snapshots {
        Snapshots(self.clone())
    }

    /// The nodes of the cluster, and what each of them leads.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        Nodes(self.clone())
    }

    /// The rates that clients may use.
    #[must_use]
    pub fn quotas(&self) -> Quotas {
        Quotas(self.clone())
    }

    /// The entries that say which principal may do what.
    #[must_use]
    pub fn acls(&self) -> Acls {
        Acls(self.clone())
    }

    /// The stub as a whole: health, summary, causes, guarantees, configuration.
    #[must_use]
    pub fn broker(&self) -> Broker {
        Broker(self.clone())
    }

    /// A request. The values are those of the {names} in the path, in their order.
    pub(crate) fn send(&self, method: &'static str, path: &'static str, values: &[&str]) -> Call<'_> {
        Call { port: &self.0, method, target: filled(path, values), body: Vec::new(), timeout: None }
    }
}

/// A request that is not sent yet.
pub(crate) struct Call<'a> {
    port: &'a Port,
    method: &'static str,
    target: String,
    body: Vec<u8>,
    timeout: Option<Duration>,
}

impl Call<'_> {
    /// Adds the parameters that are set; each value of a list is a parameter.
    pub fn query(mut self, parameters: impl Serialize) -> Self {
        let mut begins = '?';
        let Ok(Value::Object(fields)) = serde_json::to_value(parameters) else {
            return self; // parameters are structs of numbers and texts
        };
        for (name, value) in fields {
            let values = if let Value::Array(values) = value { values } else { vec![value] };
            for value in values {
                let text = value.as_str().map_or_else(|| value.to_string(), Into::into);
                self.target.push(begins);
                self.target += &name;
                self.target.push('=');
                self.target += &escaped(&text);
                begins = '&';
            }
        }
        self
    }

    /// Adds a body in JSON.
    pub fn body(mut self, body: impl Serialize) -> Self {
        self.body = serde_json::to_vec(&body).expect("a body's keys are texts");
        self
    }

    /// Gives up after this long; otherwise a request takes as long as the stub takes.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends it and reads the answer.
    pub fn json<Answer: DeserializeOwned>(self) -> Result<Answer> {
        let (method, target) = (self.method, self.target.clone());
        let content = self.bytes()?;
        serde_json::from_slice(&content)
            .map_err(|why| Error::NoAnswer(format!("the answer to {method} {target} is not as described: {why}")))
    }

    /// Sends it and takes the answer's bytes.
    pub fn bytes(self) -> Result<Vec<u8>> {
        let (method, target) = (self.method, self.target.clone());
        let mut content = Vec::new();
        match self.stream()?.read_to_end(&mut content) {
            Ok(_) => Ok(content),
            Err(why) => Err(no_answer(method, &target, &why)),
        }
    }

    /// Sends it and hands the answer over while it comes.
    pub fn stream(mut self) -> Result<Stream> {
        let body = std::mem::take(&mut self.body);
        if body.is_empty() {
            self.sent(SendBody::none())
        } else {
            self.sent(SendBody::from_owned_reader(io::Cursor::new(body)))
        }
    }

    /// Sends it with a file as its body.
    pub fn file<Answer: DeserializeOwned>(self, mut file: impl Read) -> Result<Answer> {
        let (method, target) = (self.method, self.target.clone());
        let answer = self.sent(SendBody::from_reader(&mut file))?;
        serde_json::from_reader(answer).map_err(|why| no_answer(method, &target, &why))
    }

    fn sent(self, body: SendBody<'_>) -> Result<Stream> {
        let failed = |why: &dyn fmt::Display| no_answer(self.method, &self.target, why);
        let mut request = Request::builder().method(self.method).uri(format!("{}{}", self.port.url, self.target));
        if let Some(token) = &self.port.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let request = request.body(body).map_err(|why| failed(&why))?;
        let agent = &self.port.agent;
        let request = agent.configure_request(request).timeout_global(self.timeout).build();
        let response = agent.run(request).map_err(|why| failed(&why))?;
        if response.status().as_u16() < 400 {
            return Ok(Stream(BufReader::new(response.into_body().into_reader())));
        }
        Err(Error::Refused(refused(response)))
    }
}

fn no_answer(method: &str, target: &str, why: &dyn fmt::Display) -> Error {
    Error::NoAnswer(format!("{method} {target} got no answer: {why}"))
}

fn refused(response: Response<Body>) -> Refused {
    #[derive(Deserialize)]
    struct Said {
        error: String,
        code: Option<String>,
    }
    let status = response.status();
    let said: Option<Said> = serde_json::from_reader(response.into_body().into_reader()).ok();
    let (sentence, code) = match said {
        Some(said) => (said.error, said.code),
        None => (status.to_string(), None),
    };
    Refused { status: status.as_u16(), sentence, code }
}

/// An answer that is read while it comes: a file, or lines without end. Dropping it closes its connection.
pub struct Stream(BufReader<BodyReader<'static>>);

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

impl BufRead for Stream {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Stream")
    }
}

/// Puts values in the place of a path's {names}.
fn filled(path: &str, values: &[&str]) -> String {
    let mut rest = path;
    let mut made = String::new();
    for value in values {
        let (before, after) = rest.split_once('{').expect("a name for each value");
        made += before;
        made += &escaped(value);
        rest = after.split_once('}').expect("the end of a name").1;
    }
    made + rest
}

fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
