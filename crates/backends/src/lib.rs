//! Placing sandboxes and reaching their guests.
//!
//! A backend knows where a sandbox's guest runs and how a byte stream gets there; what is said on that stream is the same everywhere. This
//! machine is the first backend ([`local`]).

#![forbid(unsafe_code)]

mod backend;
mod error;
mod identity;
pub mod local;

pub use crannog_wire::{Events, GuestClient, Hello, RunSpec, Tracking, WireError};

pub use backend::{Backend, Place, Placed, Placement, Probe};
pub use error::BackendError;
pub use identity::GuestProcess;
