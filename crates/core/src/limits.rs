//! The bounds that users and more than one crate meet, in one place, each with its reason and what happens at it. A bound of one file alone
//! stands at the top of that file.

use std::time::Duration;

/// Shortest collect window of the compatible surfaces.
pub const WINDOW_MS_MIN: u64 = 250;
/// Shortest window of a compatible write with no text: such a write is a poll, and polling faster helps nobody.
pub const WINDOW_EMPTY_WRITE_MS_MIN: u64 = 5_000;
/// Longest collect window anywhere. A longer wish is cut to it.
pub const WINDOW_MS_MAX: u64 = 30_000;
/// Default window of a start.
pub const WINDOW_START_MS_DEFAULT: u64 = 10_000;
/// Default window of a write or a bare collect.
pub const WINDOW_WRITE_MS_DEFAULT: u64 = 250;
/// Pause between a compatible write and its collect, as clients of that surface expect.
pub const COMPAT_WRITE_PAUSE_MS: u64 = 100;

/// Lowest process id handed out.
pub const PROCESS_ID_MIN: u32 = 1_000;
/// First id past the range.
pub const PROCESS_ID_MAX_EXCLUSIVE: u32 = 100_000;
/// Live processes of a sandbox unless configured. At it `start` fails; ended ones do not count.
pub const PROCESSES_LIVE_DEFAULT: u32 = 64;
/// Largest configurable number of live processes in one sandbox.
pub const PROCESSES_LIVE_MAX: u32 = 8_192;
/// Live processes from which a warning is given, as a share of the limit: 60 of 64.
pub const PROCESSES_WARNING_DEFAULT: u32 = 60;
/// Most recently used processes that retirement never takes.
pub const PROCESSES_PROTECTED_RECENT: usize = 8;
/// Ended processes whose transcripts stay readable; the least recently used goes first, never one of the most recent.
pub const PROCESSES_ENDED_KEPT: usize = 256;

/// Bytes of a transcript's beginning kept in memory.
pub const TRANSCRIPT_HEAD_BYTES: usize = 256 * 1024;
/// Bytes of a transcript's end kept in memory.
pub const TRANSCRIPT_TAIL_BYTES: usize = 768 * 1024;
/// Bytes of a transcript kept on disk unless configured. Past it the middle is dropped and the gap is stated in bytes.
pub const TRANSCRIPT_SPILL_BYTES_DEFAULT: u64 = 64 * 1024 * 1024;
/// Runs of alternating stdout and stderr remembered per transcript part. Past it the oldest runs of the tail count as dropped.
pub const TRANSCRIPT_RUNS_MAX: usize = 65_536;
/// Bytes a follower with backpressure may lag before the process is slowed: half of the tail, so that what it has not seen is kept even
/// when the disk takes no more.
pub const FOLLOW_LAG_BYTES_MAX: u64 = TRANSCRIPT_TAIL_BYTES as u64 / 2;
/// One read from a terminal or pipe.
pub const READ_CHUNK_BYTES: usize = 64 * 1024;
/// One message of a raw transcript read or follow.
pub const READ_REPLY_BYTES_MAX: usize = 1024 * 1024;
/// Text in one reply when no budget was given. Longer views are cut as if this were the budget.
pub const VIEW_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes one-shot `exec` hands back per stream unless told otherwise; the middle is dropped and counted.
pub const EXEC_OUTPUT_BYTES_DEFAULT: u64 = 8 * 1024 * 1024;

/// Bytes in one write call. A longer input is sent in several.
pub const WRITE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Writes waiting behind one another for one process. One more is refused.
pub const WRITES_WAITING_MAX: usize = 64;
/// Finished writes remembered by id for each process at least, so that a retry is recognised.
pub const WRITE_IDS_KEPT: usize = 256;
/// Bytes of a write id or request id.
pub const RETRY_ID_BYTES_MAX: usize = 128;
/// Starts remembered by request id, so that a retry does not start twice.
pub const REQUEST_IDS_KEPT: usize = 1_024;
/// Bytes of a line that a terminal in line mode takes; the kernel drops the rest (termios(3), `N_TTY_BUF_SIZE`).
pub const TERMINAL_LINE_BYTES_MAX: usize = 4_095;

/// Conditions in one `until`.
pub const UNTIL_CONDITIONS_MAX: usize = 16;
/// Bytes of a text or regex condition.
pub const UNTIL_PATTERN_BYTES_MAX: usize = 4_096;
/// Compiled size of a regex condition.
pub const UNTIL_REGEX_BYTES_MAX: usize = 1024 * 1024;
/// Text kept for a regex or text condition to match across chunks.
pub const UNTIL_MATCH_BYTES_MAX: usize = 256 * 1024;
/// Longest silence condition.
pub const UNTIL_SILENT_MS_MAX: u64 = WINDOW_MS_MAX;

/// Bytes of argv and environment together that are tried; more is refused before the kernel is asked.
pub const ARGUMENT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Rows or columns of a terminal.
pub const TERMINAL_SIDE_MAX: u16 = 4_096;
/// Rows of a terminal unless told.
pub const TERMINAL_ROWS_DEFAULT: u16 = 24;
/// Columns of a terminal unless told.
pub const TERMINAL_COLUMNS_DEFAULT: u16 = 80;

/// Bytes at the end of a transcript from which a screen is rendered. What was set before and never again is not known.
pub const SCREEN_REPLAY_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Cells of a screen that is rendered, 32 bytes each. The screen of a larger terminal is refused.
pub const SCREEN_CELLS_MAX: usize = 256 * 1024;
/// Lines kept above a rendered screen; fewer where lines are so long that they would take more cells than [`SCREEN_CELLS_MAX`].
pub const SCREEN_SCROLLBACK_LINES_MAX: u32 = 1_000;
/// Bytes of a window title.
pub const SCREEN_TITLE_BYTES_MAX: usize = 1_024;
/// Rendered screens kept at once, so that the next look costs only what was printed since. The one not looked at for longest goes.
pub const SCREENS_KEPT_MAX: usize = 32;
/// A rendered screen that nobody looked at for this long is dropped and rendered anew when it is asked for.
pub const SCREEN_KEPT: Duration = Duration::from_mins(5);
/// Bytes of one recording. Past it the recording says that it was cut, and the process goes on.
pub const RECORDING_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// From TERM to KILL when a process is ended or times out.
pub const KILL_GRACE: Duration = Duration::from_secs(1);
/// Longest grace that can be asked for.
pub const KILL_GRACE_MAX: Duration = Duration::from_mins(1);
/// Sweeps after KILL until a tree that keeps forking is given up on and reported.
pub const KILL_SWEEPS_MAX: u32 = 200;
/// How long the exit report waits for children that are still running to close the output.
pub const DRAIN_RUNNING: Duration = Duration::from_millis(250);
/// Longest process timeout.
pub const TIMEOUT_MAX: Duration = Duration::from_hours(366 * 24);

/// Calls that wait or move data, served at once by one guest. Further ones wait for a place in the order they came.
pub const GUEST_CALLS_MAX: usize = 1_024;
/// Processes in one `wait_any`.
pub const WAIT_ANY_MAX: usize = 1_024;
/// Time a fresh guest waits for its creator to confirm before it ends itself.
pub const LEASE_UNCONFIRMED: Duration = Duration::from_secs(30);
/// Shortest lease that can be asked for.
pub const LEASE_MIN: Duration = Duration::from_secs(1);
/// Longest lease that can be asked for.
pub const LEASE_MAX: Duration = Duration::from_hours(366 * 24);
/// Time a new connection to a guest may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time a guest may take to end everything when its sandbox is destroyed, before the backend does it from outside.
pub const DESTROY_TIMEOUT: Duration = Duration::from_secs(5);

/// Length of a sandbox name.
pub const NAME_BYTES_MAX: usize = 63;
