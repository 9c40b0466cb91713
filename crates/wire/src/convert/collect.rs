//! How to collect, and what ended a collect.

use std::time::Duration;

use crannog_core::collect::{Collect, Reason, Until};
use crannog_core::limits;

use super::{ConvertError, at_most, duration_ms, required};
use crate::proto::{self, until::Condition};

impl From<Until> for proto::Until {
    fn from(until: Until) -> Self {
        let condition = match until {
            Until::Exit => Condition::Exit(true),
            Until::Text(text) => Condition::Text(text),
            Until::Regex(pattern) => Condition::Regex(pattern),
            Until::Silent(silence) => Condition::SilentMs(duration_ms(silence)),
            Until::Input => Condition::Input(true),
            Until::Bytes(bytes) => Condition::Bytes(bytes),
        };
        Self { condition: Some(condition) }
    }
}

impl TryFrom<proto::Until> for Until {
    type Error = ConvertError;

    fn try_from(until: proto::Until) -> Result<Self, ConvertError> {
        let pattern = |field, text: String| {
            at_most(field, text.len(), limits::UNTIL_PATTERN_BYTES_MAX)?;
            Ok(text)
        };
        Ok(match required("until", until.condition)? {
            Condition::Exit(_) => Self::Exit,
            Condition::Text(text) => Self::Text(pattern("text", text)?),
            Condition::Regex(text) => Self::Regex(pattern("regex", text)?),
            Condition::SilentMs(ms) => Self::Silent(Duration::from_millis(ms)),
            Condition::Input(_) => Self::Input,
            Condition::Bytes(bytes) => Self::Bytes(bytes),
        })
    }
}

impl From<Collect> for proto::Collect {
    fn from(collect: Collect) -> Self {
        Self {
            cursor: collect.cursor,
            window_ms: duration_ms(collect.window),
            until: collect.until.into_iter().map(proto::Until::from).collect(),
            budget_tokens: collect.budget,
        }
    }
}

impl TryFrom<proto::Collect> for Collect {
    type Error = ConvertError;

    fn try_from(collect: proto::Collect) -> Result<Self, ConvertError> {
        at_most("until", collect.until.len(), limits::UNTIL_CONDITIONS_MAX)?;
        Ok(Self {
            cursor: collect.cursor,
            window: Duration::from_millis(collect.window_ms),
            until: collect.until.into_iter().map(Until::try_from).collect::<Result<_, _>>()?,
            budget: collect.budget_tokens,
        })
    }
}

impl From<Reason> for proto::Reason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Window => Self::Window,
            Reason::Exit => Self::Exit,
            Reason::Text => Self::Text,
            Reason::Regex => Self::Regex,
            Reason::Silent => Self::Silent,
            Reason::Input => Self::Input,
            Reason::Bytes => Self::Bytes,
        }
    }
}

impl TryFrom<proto::Reason> for Reason {
    type Error = ConvertError;

    fn try_from(reason: proto::Reason) -> Result<Self, ConvertError> {
        Ok(match reason {
            proto::Reason::Unspecified => return Err(ConvertError::Missing { field: "reason" }),
            proto::Reason::Window => Self::Window,
            proto::Reason::Exit => Self::Exit,
            proto::Reason::Text => Self::Text,
            proto::Reason::Regex => Self::Regex,
            proto::Reason::Silent => Self::Silent,
            proto::Reason::Input => Self::Input,
            proto::Reason::Bytes => Self::Bytes,
        })
    }
}
