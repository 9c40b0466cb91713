//! A real guest process, a real socket, real commands.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod callers;
mod calls;
mod connect;
mod life;
mod screens;
mod support;
