//! Followers: readers that get a transcript as it grows.

use crannog_core::transcript::FollowEvent;

/// A reader of one process's transcript.
#[derive(Debug)]
pub struct Follower {}

impl Follower {
    /// The next event; `None` after [`FollowEvent::Ended`]. Cancel-safe.
    pub async fn next(&mut self) -> Option<FollowEvent> {
        todo!()
    }
}
