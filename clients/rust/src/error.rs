use std::fmt;

/// What a call of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something did not work. Its text, and what `unwrap` prints, is a sentence.
#[derive(Clone)]
#[non_exhaustive]
pub enum Error {
    /// The stub or the launcher refused a request, or a wait was in vain.
    Refused(Refused),
    /// A request got no answer, or one that is not as described.
    NoAnswer(String),
    /// The command was not found, or did not start.
    NotStarted(String),
}

/// An answer with a status of 400 or more.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The HTTP status; 408 if a wait was in vain.
    pub status: u16,
    /// What is wrong, and where. After a wait that was in vain, what the stub saw last.
    pub sentence: String,
    /// The name of Kafka's error code, if Kafka's rules are the reason.
    pub code: Option<String>,
}

impl Error {
    /// Whether this is a wait that was in vain.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.status() == Some(408)
    }

    /// The HTTP status of a refusal.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Error::Refused(refused) => Some(refused.status),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(refused) => write!(to, "kafkastub: {}", refused.sentence),
            Error::NoAnswer(sentence) | Error::NotStarted(sentence) => {
                write!(to, "kafkastub: {sentence}")
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

impl std::error::Error for Error {}
