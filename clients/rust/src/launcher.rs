use std::env;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::command::command;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::stub::Stub;
use crate::types::{StubInfo, StubOptions};

/// A process that starts and ends stubs. It ends with this process, however that ends, or when its last clone and the
/// last of its stubs are dropped.
#[derive(Clone)]
pub struct Launcher(Arc<Parts>);

struct Parts {
    control: Control,
    /// None if another process has started it.
    process: Option<Mutex<Process>>,
}

/// The launcher lives as long as its standard input is open. The operating system closes it if this process is killed.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    _output: BufReader<ChildStdout>,
}

/// More than a launcher takes, on a machine with much other work too (docs/launcher.md).
const START: Duration = Duration::from_secs(180);
/// More than a process takes that closes its output before it exits.
const END: Duration = Duration::from_secs(10);
const MOST_SAID: usize = 4000;

impl Launcher {
    /// The launcher that all of a process have in common: that of the environment variable KAFKASTUB_LAUNCHER,
    /// http://HOST:PORT#TOKEN, or one that the first caller starts.
    ///
    /// # Errors
    ///
    /// The command was not found or did not start.
    pub fn shared() -> Result<Launcher> {
        static SHARED: OnceLock<Result<Launcher>> = OnceLock::new();
        let find = || match env::var("KAFKASTUB_LAUNCHER") {
            Ok(at) if !at.is_empty() => Launcher::at(&at),
            _ => Launcher::start(&command(None)?, &[]),
        };
        SHARED.get_or_init(find).clone()
    }

    /// One that runs already: http://HOST:PORT#TOKEN.
    fn at(address: &str) -> Result<Launcher> {
        let Some((url, token)) = address.split_once('#') else {
            return Err(Error::NotStarted(format!(
                "KAFKASTUB_LAUNCHER={address} is refused: expected http://HOST:PORT#TOKEN"
            )));
        };
        Ok(Launcher(Arc::new(Parts { control: Control::new(url, Some(token)), process: None })))
    }

    /// Starts a launcher by a command, with options of `kafkastub launcher`.
    ///
    /// # Errors
    ///
    /// The command did not start. The error contains what it wrote.
    pub fn start(command: &Path, options: &[&str]) -> Result<Launcher> {
        let failed =
            |why: &dyn fmt::Display| Error::NotStarted(format!("{} cannot be started: {why}", command.display()));
        let mut child = Command::new(command)
            .arg("launcher")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|why| failed(&why))?;
        let input = child.stdin.take();
        let errors = child.stderr.take().map(passed_on);
        let output = child.stdout.take().map(first_line).ok_or_else(|| failed(&"it has no output"))?;
        match output.recv_timeout(START) {
            Ok((line, output)) if announced(&line).is_some() => {
                let (url, token) = announced(&line).unwrap_or_default();
                let process = Process { child, input, _output: output };
                Ok(Launcher(Arc::new(Parts {
                    control: Control::new(url, Some(token)),
                    process: Some(Mutex::new(process)),
                })))
            }
            other => {
                drop(input);
                let late = matches!(other, Err(RecvTimeoutError::Timeout));
                let status = match ended(&mut child, if late { Duration::ZERO } else { END }) {
                    status if late => format!("it was not ready after {} s; {status}", START.as_secs()),
                    status => status,
                };
                let line = other.map(|(line, _)| line).unwrap_or_default();
                let said = errors.and_then(|errors| errors.recv().ok()).unwrap_or_default();
                Err(Error::NotStarted(format!(
                    "{} did not start ({status}); it said: {:?}",
                    command.display(),
                    line + &said
                )))
            }
        }
    }

    /// Starts a stub. It ends when it is dropped.
    ///
    /// # Errors
    ///
    /// An option is refused, or the launcher does not answer.
    pub fn start_stub(&self, options: StubOptions) -> Result<Stub> {
        let info: StubInfo = self.0.control.send("POST", "/v1/stubs", &[]).body(options).json()?;
        Ok(Stub::new(info, self.clone()))
    }

    /// Ends a stub.
    pub(crate) fn end(&self, id: &str) -> Result<()> {
        let call = self.0.control.send("DELETE", "/v1/stubs/{stub_id}", &[id]);
        call.within(Duration::from_secs(30)).bytes().map(|_| ())
    }
}

impl fmt::Debug for Launcher {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Launcher({})", self.0.control.url())
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let process = process.get_mut().unwrap_or_else(PoisonError::into_inner);
            drop(process.input.take());
            let _ = process.child.wait();
        }
    }
}

/// How a process ended. It is killed if it does not end by itself within this time.
fn ended(child: &mut Child, within: Duration) -> String {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    child.wait().map(|status| status.to_string()).unwrap_or_default()
}

/// The address and the token of the ready line.
fn announced(line: &str) -> Option<(&str, &str)> {
    let (url, token) = line.trim_end().strip_prefix("kafkastub launcher ready on ")?.split_once(" (token ")?;
    Some((url, token.strip_suffix(')')?))
}

/// The first line of what a process writes, as soon as it is there.
fn first_line(output: ChildStdout) -> mpsc::Receiver<(String, BufReader<ChildStdout>)> {
    let (found, line) = mpsc::channel();
    thread::spawn(move || {
        let (mut output, mut text) = (BufReader::new(output), String::new());
        let _ = output.read_line(&mut text);
        let _ = found.send((text, output));
    });
    line
}

/// Writes what a process says to standard error. Its beginning comes at the end.
fn passed_on(mut errors: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (ended, beginning) = mpsc::channel();
    thread::spawn(move || {
        let (mut said, mut read) = (Vec::new(), [0; 4096]);
        while let Ok(size @ 1..) = errors.read(&mut read) {
            let _ = std::io::stderr().write_all(&read[..size]);
            said.extend_from_slice(&read[..size.min(MOST_SAID - said.len())]);
        }
        let _ = ended.send(String::from_utf8_lossy(&said).into_owned());
    });
    beginning
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_launcher_is_told_with_what_it_said() {
        let why = Launcher::start(Path::new("/bin/cat"), &[]).unwrap_err().to_string();
        assert!(why.contains("did not start (exit status: 1); it said: ") && why.contains("launcher"), "{why}");
    }

    /// A command that closes its output, and exits later.
    #[test]
    fn the_status_of_a_process_that_exits_late_is_its_own() {
        let file = env::temp_dir().join(format!("kafkastub-{}-late", std::process::id()));
        std::fs::write(&file, "#!/bin/sh\nexec >&-\nsleep 0.2\necho no such option >&2\nexit 2\n").unwrap();
        let script = Command::new("/bin/chmod").arg("755").arg(&file).status();
        assert!(script.unwrap().success());
        let why = Launcher::start(&file, &[]).unwrap_err().to_string();
        let _ = std::fs::remove_file(&file);
        assert!(why.ends_with(r#"did not start (exit status: 2); it said: "no such option\n""#), "{why}");
    }

    #[test]
    fn an_address_without_a_token_is_refused() {
        let why = Launcher::at("http://127.0.0.1:1").unwrap_err().to_string();
        assert!(why.contains("expected http://HOST:PORT#TOKEN"), "{why}");
    }
}
