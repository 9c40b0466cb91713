//! The cases, a file for each theme. Each is listed in [`crate::suite`].

pub(crate) mod background_holders;
pub(crate) mod binary_output;
pub(crate) mod bulk_input;
pub(crate) mod child_environment;
pub(crate) mod exit_last_output;
pub(crate) mod exit_status;
pub(crate) mod kill_tree;
pub(crate) mod lifecycle_concurrency;
pub(crate) mod output_bounds;
pub(crate) mod refusals;
pub(crate) mod retention;
pub(crate) mod retries;
pub(crate) mod stdin_keys;
pub(crate) mod terminal_behaviour;
pub(crate) mod utf8_split;
pub(crate) mod waiting;
