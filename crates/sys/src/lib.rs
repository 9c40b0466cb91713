//! Safe wrappers over Linux: the only crate of crannog with unsafe code.
//!
//! What `std` and `rustix` can do safely is done with them; unsafe code is lifted module by module where
//! neither can: starting a process without copying this one, reaping with resource usage, and registering
//! descriptors with the runtime. Nothing here knows what a sandbox is; the engine gives these calls their meaning.
//!
//! Functions whose whole story is one system call return `io::Error` with the number of the kernel; where it
//! matters which of many steps failed there is a typed error (`spawn::SpawnError`).

pub mod async_fd;
pub mod cgroup;
pub mod evidence;
pub mod local_socket;
pub mod own_process;
pub mod pidfd;
pub mod pipe;
pub mod process_group;
pub mod process_tree;
pub mod reaper;
pub mod spawn;
pub mod terminal;
pub mod users;
