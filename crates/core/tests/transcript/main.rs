//! Transcripts and their views against a model that keeps everything.

#![allow(clippy::unwrap_used, missing_docs)]

mod log;
mod support;
mod view;
