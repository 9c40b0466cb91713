//! What a terminal shows. Nothing is emulated until somebody asks.
//!
//! A screen is rendered from the transcript when it is looked at, from its last few MiB, and kept for a while: the next look only takes in
//! what was printed since. So a flood costs nothing here, and a terminal nobody looks at has no screen. The emulator cuts lines when a
//! screen gets narrower; after a resize it is rendered anew from the raw bytes.

pub(crate) mod emulator;
mod kept;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crannog_core::limits;
use crannog_core::log::Chunk;
use crannog_core::process::TerminalSize;
use crannog_core::screen::{Cursor, Screen, ScreenRequest, ScreenRow};
use crannog_sys::own_process;

use crate::error::EngineError;
use crate::process::Process;
use emulator::Emulator;
pub(crate) use kept::KeptScreens;

/// Bytes taken from the transcript at a time.
const STEP_BYTES: usize = 64 * 1024;
/// Bytes fed between two looks at the clock: few bytes can ask for much work (`CSI 65535 b`).
const SLICE_BYTES: usize = 128;
/// Work between two pauses for others.
const TURN_MAX: Duration = Duration::from_millis(2);
/// Processor time for one look. Two MiB of ordinary output take a tenth of a second.
const WORK_MAX: Duration = Duration::from_secs(2);
/// Switches to the alternate screen.
const ALTERNATE: &[u8] = b"\x1b[?1049h";

/// What is kept of a process's screen between two looks. Empty, it takes a few hundred bytes.
#[derive(Debug, Default)]
pub(crate) struct View {
    rendered: Option<Box<Rendered>>,
    shown: Shown,
    /// Never goes back, so that a version handed out before the screen was dropped still tells old from new.
    version: u64,
}

/// An emulator and how far it is.
#[derive(Debug)]
struct Rendered {
    emulator: Emulator,
    from: u64,
    next: u64,
}

/// What the latest look saw.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shown {
    /// Text of each row and the version that it changed with.
    rows: Vec<(String, u64)>,
    size: Option<TerminalSize>,
    cursor: Cursor,
    title: String,
    is_alternate: bool,
}

impl View {
    /// Drops what takes memory.
    pub(crate) fn forget(&mut self) {
        self.rendered = None;
        self.shown = Shown::default();
    }

    /// The emulator, after [`catch_up`].
    pub(crate) fn emulator(&mut self) -> Option<&mut Emulator> {
        self.rendered.as_mut().map(|rendered| &mut rendered.emulator)
    }

    /// Compares the picture with that of the latest look.
    fn compare(&mut self, process: &Process) -> Result<(), EngineError> {
        let Some(rendered) = &self.rendered else { return Ok(()) };
        let emulator = &rendered.emulator;
        let rows = emulator.rows().map_err(|_| failed(process))?;
        let mut next = Shown {
            rows: rows.into_iter().map(|row| (row, self.version)).collect(),
            size: Some(emulator.size()),
            cursor: emulator.cursor(),
            title: emulator.title().to_owned(),
            is_alternate: emulator.is_alternate(),
        };
        let version = self.version + 1;
        for (index, (text, changed)) in next.rows.iter_mut().enumerate() {
            *changed = match self.shown.rows.get(index) {
                Some((before, changed)) if before == text => *changed,
                _ => version,
            };
        }
        if next != self.shown {
            self.version = version;
            self.shown = next;
        }
        Ok(())
    }

    fn answer(&mut self, process: &Process, request: ScreenRequest) -> Result<Screen, EngineError> {
        let since = request.since.filter(|since| *since <= self.version);
        let Some(rendered) = &mut self.rendered else { return Err(failed(process)) };
        let [skip, count] = [request.scrollback_skip, request.scrollback_lines.min(limits::SCREEN_SCROLLBACK_LINES_MAX)]
            .map(|lines| usize::try_from(lines).unwrap_or(usize::MAX));
        let scrollback = rendered.emulator.scrollback(skip, count).map_err(|_| failed(process))?;
        let shown = &self.shown;
        let rows = (0..).zip(&shown.rows).filter(|(_, (_, changed))| since.is_none_or(|since| *changed > since));
        Ok(Screen {
            size: rendered.emulator.size(),
            rows: rows.map(|(row, (text, _))| ScreenRow { row, text: text.clone() }).collect(),
            cursor: shown.cursor,
            title: shown.title.clone(),
            alternate: shown.is_alternate,
            version: self.version,
            offset: rendered.next,
            rendered_from: rendered.from,
            scrollback,
            scrollback_total: u32::try_from(rendered.emulator.scrollback_len()).unwrap_or(u32::MAX),
            end: process.end(),
        })
    }
}

/// Looks at a process's terminal. Cancel-safe: what was rendered so far is kept.
pub(crate) async fn look(screens: &Arc<KeptScreens>, process: &Arc<Process>, request: ScreenRequest) -> Result<Screen, EngineError> {
    let mut view = process.screen.lock().await;
    catch_up(screens, process, &mut view).await?;
    let answer = view.compare(process).and_then(|()| view.answer(process, request));
    if answer.is_err() {
        view.forget();
    }
    answer
}

/// Renders what was printed up to now. Cancel-safe. On failure nothing is kept.
pub(crate) async fn catch_up(screens: &Arc<KeptScreens>, process: &Arc<Process>, view: &mut View) -> Result<(), EngineError> {
    screens.note_look(process);
    let mut begins_alternate = false;
    loop {
        let result = advance(process, view, begins_alternate).await;
        let Ok((is_whole, is_alternate)) = result else {
            view.forget();
            return result.map(|_| ());
        };
        // The switch to the alternate screen may lie before what was rendered; where the terminal stands now tells.
        let differs = !is_whole && view.rendered.as_ref().is_some_and(|rendered| rendered.emulator.is_alternate() != is_alternate);
        if !differs || begins_alternate {
            return Ok(());
        }
        begins_alternate = true;
        view.rendered = None;
    }
}

/// Takes in the transcript up to where it ends now. Answers whether that is all of it, and whether the terminal shows its alternate screen.
async fn advance(process: &Process, view: &mut View, begins_alternate: bool) -> Result<(bool, bool), EngineError> {
    let size = size_of(process)?;
    let (until, is_alternate) = {
        let state = process.state();
        (state.log.total(), state.questions.as_ref().is_some_and(|questions| questions.is_alternate()))
    };
    let is_usable = |rendered: &Rendered| rendered.emulator.size() == size && until - rendered.next <= limits::SCREEN_REPLAY_BYTES_MAX;
    if view.rendered.as_deref().is_none_or(|rendered| !is_usable(rendered)) {
        view.rendered = Some(Box::new(begin(process, size, until.saturating_sub(limits::SCREEN_REPLAY_BYTES_MAX), begins_alternate)?));
    }
    let (mut chunk, mut work) = (Chunk::default(), Duration::ZERO);
    loop {
        let Some(rendered) = view.rendered.as_deref_mut() else { return Err(failed(process)) };
        if rendered.next >= until {
            return Ok((rendered.from == 0, is_alternate));
        }
        process.state().log.read(rendered.next, STEP_BYTES, &mut chunk).map_err(|_| failed(process))?;
        if chunk.skipped() > 0 {
            *rendered = begin(process, size, chunk.offset(), begins_alternate)?;
        }
        let mut bytes: Vec<u8> = chunk.pieces().flat_map(|(_, piece)| piece.iter().copied()).collect();
        if rendered.next == rendered.from && rendered.from > 0 {
            // Not from the middle of a sequence.
            let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            bytes.drain(..line);
            rendered.from += line as u64;
            rendered.next = rendered.from;
        }
        rendered.feed(process, &bytes, &mut work).await?;
    }
}

impl Rendered {
    /// Takes output, with pauses for others. Cancel-safe: it knows how far it is.
    async fn feed(&mut self, process: &Process, bytes: &[u8], work: &mut Duration) -> Result<(), EngineError> {
        let (mut turn, mut used) = (Instant::now(), own_process::thread_processor_time());
        for slice in bytes.chunks(SLICE_BYTES) {
            self.emulator.feed(slice).map_err(|_| failed(process))?;
            self.next += slice.len() as u64;
            if turn.elapsed() >= TURN_MAX {
                *work += own_process::thread_processor_time().saturating_sub(used);
                if *work >= WORK_MAX {
                    return Err(failed(process));
                }
                tokio::task::yield_now().await;
                (turn, used) = (Instant::now(), own_process::thread_processor_time());
            }
        }
        *work += own_process::thread_processor_time().saturating_sub(used);
        Ok(())
    }
}

fn begin(process: &Process, size: TerminalSize, from: u64, alternate: bool) -> Result<Rendered, EngineError> {
    let mut emulator = Emulator::new(size);
    if alternate && from > 0 {
        emulator.feed(ALTERNATE).map_err(|_| failed(process))?;
    }
    Ok(Rendered { emulator, from, next: from })
}

fn size_of(process: &Process) -> Result<TerminalSize, EngineError> {
    let size = process.state().terminal.ok_or(EngineError::NotATerminal { process: process.id })?;
    if usize::from(size.rows) * usize::from(size.columns) > limits::SCREEN_CELLS_MAX {
        return Err(EngineError::ScreenTooLarge { process: process.id, rows: size.rows, columns: size.columns });
    }
    Ok(size)
}

fn failed(process: &Process) -> EngineError {
    EngineError::ScreenFailed { process: process.id }
}
