//! What a caller learns when a cleanup ran to its end although the caller was being cancelled.
//!
//! The cleanup itself is never interrupted. Whoever waits for it reports each cancellation here and asks at the end: the first one
//! wins over later ones and over the cleanup's own failure.

/// How a settled cleanup ends for its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled<T, E, C> {
    /// It succeeded and nobody cancelled.
    Done(T),
    /// It failed and nobody cancelled.
    Failed(E),
    /// The first cancellation, to be passed on unchanged.
    Cancelled(C),
}

/// Remembers the first cancellation while a cleanup runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settle<C> {
    first: Option<C>,
}

impl<C> Settle<C> {
    /// Starts. A cancellation that caused the cleanup counts as the first.
    pub fn new(initial: Option<C>) -> Self {
        Self { first: initial }
    }

    /// The caller was cancelled; the cleanup goes on.
    pub fn cancelled(&mut self, cancellation: C) {
        self.first.get_or_insert(cancellation);
    }

    /// The cleanup ended with `result`.
    pub fn finish<T, E>(self, result: Result<T, E>) -> Settled<T, E, C> {
        match (self.first, result) {
            (Some(cancellation), _) => Settled::Cancelled(cancellation),
            (None, Ok(value)) => Settled::Done(value),
            (None, Err(error)) => Settled::Failed(error),
        }
    }
}
