use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Deref;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::control::Control;
use crate::error::Result;
use crate::launcher::Launcher;
use crate::types::{CauseList, JournalPage, JournalQueryParams, StubInfo, StubOptions};

/// A broker that runs until it is dropped. It has all methods of [`Control`].
///
/// If it is dropped by a panic, standard error shows its [`report`](Stub::report).
#[derive(Debug)]
#[must_use = "the stub ends when it is dropped"]
pub struct Stub {
    info: StubInfo,
    control: Control,
    launcher: Launcher,
    ended: bool,
}

/// How many requests a report has.
const REPORTED: i64 = 50;
const REPORT_WAITS: Duration = Duration::from_secs(5);

impl Stub {
    /// Starts a stub without topics. It answers when this returns, after about 5 milliseconds.
    ///
    /// # Errors
    ///
    /// The command was not found or did not start.
    pub fn start() -> Result<Stub> {
        Stub::options().start()
    }

    /// What a stub is to be: `Stub::options().topic("orders", 3).start()`.
    pub fn options() -> StubOptions {
        StubOptions::new()
    }

    pub(crate) fn new(info: StubInfo, launcher: Launcher) -> Stub {
        let control = Control::new(&info.control_url, Some(&info.control_token));
        Stub { info, control, launcher, ended: false }
    }

    /// What the launcher calls it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.info.id
    }

    /// HOST:PORT, for a client's bootstrap.servers; several with commas if the stub has several nodes.
    #[must_use]
    pub fn bootstrap_servers(&self) -> &str {
        &self.info.bootstrap_servers
    }

    /// The bootstrap servers by the name of the listener.
    #[must_use]
    pub fn listeners(&self) -> &BTreeMap<String, String> {
        &self.info.listeners
    }

    /// The certificate that clients with TLS trust, if a listener has TLS.
    #[must_use]
    pub fn ca_file(&self) -> Option<&Path> {
        self.info.ca_file.as_deref().map(Path::new)
    }

    /// The address of the schema registry, if the stub has one.
    #[must_use]
    pub fn registry_url(&self) -> Option<&str> {
        self.info.registry_url.as_deref()
    }

    /// The control port. Its clones can be moved to other threads.
    #[must_use]
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Ends the stub. When this returns, its ports are free. Dropping it does the same, without an error.
    ///
    /// # Errors
    ///
    /// The launcher does not answer.
    pub fn close(mut self) -> Result<()> {
        self.ended = true;
        self.launcher.end(&self.info.id)
    }

    /// Why clients may wait, and the newest 50 requests that the stub answered.
    ///
    /// A test that returns an error does not panic: print this where it is handled.
    #[must_use]
    pub fn report(&self) -> String {
        let newest = self.control.send("GET", "/v1/journal", &[]);
        let newest = newest.query(JournalQueryParams::new().limit(REPORTED)).within(REPORT_WAITS);
        let page: JournalPage = match newest.json() {
            Ok(page) => page,
            Err(why) => return format!("the journal of {} cannot be read: {why}\n", self.bootstrap_servers()),
        };
        let causes = self.control.send("GET", "/v1/causes", &[]).within(REPORT_WAITS);
        let causes = causes.json::<CauseList>().map(|list| list.causes).unwrap_or_default();
        let mut text = String::new();
        if !causes.is_empty() {
            text += "why clients may wait:\n";
        }
        for sentence in causes {
            let _ = writeln!(text, "  {sentence}");
        }
        let _ = writeln!(
            text,
            "kafkastub at {} was asked (the newest {} of {}):",
            self.bootstrap_servers(),
            page.entries.len(),
            page.total
        );
        for entry in page.entries {
            let _ = writeln!(text, "{}", entry.get("text").and_then(|line| line.as_str()).unwrap_or_default());
        }
        text
    }
}

impl Deref for Stub {
    type Target = Control;

    fn deref(&self) -> &Control {
        &self.control
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if thread::panicking() {
            eprint!("{}", self.report());
        }
        if let Err(why) = self.launcher.end(&self.info.id) {
            eprintln!("{why}");
        }
    }
}
