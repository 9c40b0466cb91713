//! Which screens are kept rendered: few, and none for long after the last look.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crannog_core::limits;
use tokio::time::Instant;

use crate::process::Process;

/// The processes whose screens are kept, the one not looked at for longest first.
#[derive(Debug, Default)]
pub(crate) struct KeptScreens(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    looks: VecDeque<Look>,
    is_sweeping: bool,
}

#[derive(Debug)]
struct Look {
    process: Weak<Process>,
    at: Instant,
}

impl KeptScreens {
    /// Somebody looks at a screen now.
    pub(crate) fn note_look(self: &Arc<Self>, process: &Arc<Process>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = Arc::downgrade(process);
        state.looks.retain(|look| !look.process.ptr_eq(&own));
        state.looks.push_back(Look { process: own, at: Instant::now() });
        if state.looks.len() > limits::SCREENS_KEPT_MAX
            && let Some(look) = state.looks.pop_front()
        {
            forget(&look);
        }
        if !state.is_sweeping {
            state.is_sweeping = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// Drops the screens whose time is over. Answers when to look again; `None` when none is left.
    fn expire(&self, now: Instant) -> Option<Instant> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(look) = state.looks.pop_front_if(|look| now >= look.at + limits::SCREEN_KEPT) {
            forget(&look);
        }
        state.is_sweeping = !state.looks.is_empty();
        state.looks.front().map(|look| look.at + limits::SCREEN_KEPT)
    }
}

/// A screen that is being rendered at this moment was looked at meanwhile, and is noted anew.
fn forget(look: &Look) {
    if let Some(process) = look.process.upgrade()
        && let Ok(mut view) = process.screen.try_lock()
    {
        view.forget();
    }
}

async fn sweep(screens: Weak<KeptScreens>) {
    let mut at = Instant::now() + limits::SCREEN_KEPT;
    loop {
        tokio::time::sleep_until(at).await;
        let Some(next) = screens.upgrade().and_then(|screens| screens.expire(Instant::now())) else { return };
        at = next;
    }
}
