//! Pieces of a transcript and the events of a follow.

use crannog_core::id::ProcessId;
use crannog_core::process::Stream;
use crannog_core::transcript::{Ended, FollowEvent, Part, TranscriptPart, Usage};

use super::process::end;
use super::{ConvertError, required};
use crate::proto::{self, follow_event::Event};

impl From<Stream> for proto::Stream {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Stdout => Self::Stdout,
            Stream::Stderr => Self::Stderr,
        }
    }
}

/// A choice of one stream; `None` is both.
pub(crate) fn stream_choice(stream: proto::Stream) -> Option<Stream> {
    match stream {
        proto::Stream::Unspecified => None,
        proto::Stream::Stdout => Some(Stream::Stdout),
        proto::Stream::Stderr => Some(Stream::Stderr),
    }
}

impl From<Part> for proto::Part {
    fn from(part: Part) -> Self {
        Self { offset: part.offset, stream: proto::Stream::from(part.stream).into(), data: part.bytes }
    }
}

impl TryFrom<proto::Part> for Part {
    type Error = ConvertError;

    fn try_from(part: proto::Part) -> Result<Self, ConvertError> {
        let stream = required("stream", stream_choice(part.stream()))?;
        if part.data.is_empty() {
            return Err(ConvertError::Missing { field: "data" });
        }
        Ok(Self { offset: part.offset, stream, bytes: part.data })
    }
}

impl From<TranscriptPart> for proto::ReadReply {
    fn from(read: TranscriptPart) -> Self {
        Self {
            parts: read.parts.into_iter().map(proto::Part::from).collect(),
            next: read.next,
            lost_bytes: read.lost_bytes,
            total: read.total,
            end: read.end.map(proto::End::from),
        }
    }
}

impl TryFrom<proto::ReadReply> for TranscriptPart {
    type Error = ConvertError;

    fn try_from(read: proto::ReadReply) -> Result<Self, ConvertError> {
        Ok(Self {
            parts: read.parts.into_iter().map(Part::try_from).collect::<Result<_, _>>()?,
            next: read.next,
            lost_bytes: read.lost_bytes,
            total: read.total,
            end: end(read.end)?,
        })
    }
}

impl From<Ended> for proto::Ended {
    fn from(ended: Ended) -> Self {
        Self {
            end: Some(ended.end.into()),
            duration_ms: ended.duration_ms,
            descendants_alive: ended.descendants_alive,
            stdout_omitted_bytes: ended.stdout_omitted_bytes,
            stderr_omitted_bytes: ended.stderr_omitted_bytes,
            user_us: ended.usage.user_us,
            system_us: ended.usage.system_us,
            memory_peak_bytes: ended.usage.memory_peak_bytes,
        }
    }
}

impl TryFrom<proto::Ended> for Ended {
    type Error = ConvertError;

    fn try_from(ended: proto::Ended) -> Result<Self, ConvertError> {
        Ok(Self {
            end: required("end", ended.end)?.try_into()?,
            duration_ms: ended.duration_ms,
            descendants_alive: ended.descendants_alive,
            stdout_omitted_bytes: ended.stdout_omitted_bytes,
            stderr_omitted_bytes: ended.stderr_omitted_bytes,
            usage: Usage { user_us: ended.user_us, system_us: ended.system_us, memory_peak_bytes: ended.memory_peak_bytes },
        })
    }
}

impl From<FollowEvent> for proto::FollowEvent {
    fn from(event: FollowEvent) -> Self {
        let event = match event {
            FollowEvent::Started(process) => Event::Started(process.0),
            FollowEvent::Output(part) => Event::Output(part.into()),
            FollowEvent::Lost(bytes) => Event::LostBytes(bytes),
            FollowEvent::Ended(ended) => Event::Ended(ended.into()),
        };
        Self { event: Some(event) }
    }
}

impl TryFrom<proto::FollowEvent> for FollowEvent {
    type Error = ConvertError;

    fn try_from(event: proto::FollowEvent) -> Result<Self, ConvertError> {
        Ok(match required("event", event.event)? {
            Event::Started(process) => Self::Started(ProcessId(process)),
            Event::Output(part) => Self::Output(part.try_into()?),
            Event::LostBytes(bytes) => Self::Lost(bytes),
            Event::Ended(ended) => Self::Ended(ended.try_into()?),
        })
    }
}
