//! One error of the compatible surface.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{ErrorClass, Facts};

/// A value in an error's context, in the shapes that JSON has. It serialises to the plain value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Nothing known.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
    /// Text.
    Text(String),
    /// Several values.
    List(Vec<Value>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Self::Null, Self::from)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<&[String]> for Value {
    fn from(parts: &[String]) -> Self {
        Self::List(parts.iter().map(|part| Self::Text(part.clone())).collect())
    }
}

/// What else is known about an error.
pub type Context = BTreeMap<Cow<'static, str>, Value>;

/// An error as clients of the compatible surface see it. Its string form is the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    class: ErrorClass,
    facts: Facts,
    /// For people, and for those clients that match on it.
    pub message: String,
    /// Whether trying again can help; `None` is unknown.
    pub retryable: Option<bool>,
    /// Details. A raiser's own keys win over the class's.
    pub context: Context,
}

impl Record {
    /// An error of a class that is raised. Its retryable value is the class's.
    pub(super) fn new<const N: usize>(class: ErrorClass, message: impl Into<String>, context: [(&'static str, Value); N]) -> Self {
        let facts = class.facts().expect("constructors name raised classes only, which a test holds for each of them");
        let context = context.into_iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect();
        Self { class, facts, message: message.into(), retryable: facts.retryable, context }
    }

    /// The class.
    pub fn class(&self) -> ErrorClass {
        self.class
    }

    /// What the class says of all its errors.
    pub fn facts(&self) -> Facts {
        self.facts
    }

    /// Says it in other words.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Says whether trying again can help, instead of the class.
    #[must_use]
    pub fn with_retryable(mut self, retryable: Option<bool>) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds details; those with the same key are replaced.
    #[must_use]
    pub fn with_context(mut self, extra: Context) -> Self {
        self.context.extend(extra);
        self
    }

    /// Takes on what is known of a cause, which is another error of this surface, unless this one says itself whether trying again
    /// can help. Causes of other kinds say nothing and are not named here.
    #[must_use]
    pub fn caused_by(mut self, cause_retryable: Option<bool>) -> Self {
        self.retryable = self.retryable.or(cause_retryable);
        self
    }
}
