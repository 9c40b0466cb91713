//! A person takes a process's terminal over: keys go in, the screen comes out, and the caller's own terminal is left as it was.

pub(crate) mod detach_keys;
mod raw_mode;
mod replay;
pub(crate) mod screen_modes;
pub(crate) mod session;
