//! The guest protocol: what a client outside and the guest of a sandbox say to each other.
//!
//! Both sides speak in the words of `crannog-core`; the messages between them stay inside this crate. A [`GuestClient`] makes calls over
//! any byte stream that a [`Connector`] opens, and opens another when one breaks: calls that do not act twice are tried again.
//! A guest implements [`GuestService`] and hands it to [`server::serve`] with its incoming streams.
//!
//! What is fixed for a generation of the protocol, and how it may grow, is said in `VERSIONING.md`.

#![forbid(unsafe_code)]

pub mod client;
pub mod config;
pub mod connector;
pub mod convert;
pub mod error;
pub mod message;
pub mod proto;
pub mod server;
pub mod service;

pub use client::{ClientOptions, Events, GuestClient};
pub use config::GuestConfig;
pub use connector::{ByteStream, Connector, UnixConnector};
pub use error::{Failure, WireError};
pub use message::{Hello, RunSpec, Tracking};
pub use service::{EventStream, GuestService};

/// The protocol generation this crate speaks.
pub const GENERATION: u32 = 1;
