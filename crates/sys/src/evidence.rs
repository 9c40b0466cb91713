//! Whether a program waits for input: by evidence, not by guessing at prompts.
//!
//! The evidence is a thread that sleeps in a call which only input on the given terminal or pipe (or a timeout) can
//! end. `/proc` shows the call and its arguments; which descriptors a `poll` or `select` waits for stands in the
//! memory of the program, those of an `epoll` in its `fdinfo`. Where the kernel does not let us see calls, the name of the
//! function that the thread sleeps in is a weaker substitute.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use rustix::fs::{FileType, makedev, stat};

mod call;

use call::{Sleep, Watch};

/// Programs with more threads are looked at in part; nothing that prompts has as many.
const THREADS_MAX: usize = 256;

/// Far above what a `poll` that includes a terminal waits for.
const POLL_COUNT_MAX: u64 = 1024;

/// The size of the C library's `fd_set`.
const SELECT_COUNT_MAX: u64 = 1024;

/// Lines of an `epoll` descriptor's `fdinfo` are about 80 bytes long: room for some 800 descriptors.
const FDINFO_BYTES_MAX: u64 = 64 * 1024;

/// What input would come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputObject {
    /// A terminal, by the device number of its peer ([`crate::terminal::Terminal::device`]).
    Terminal {
        /// As in `st_rdev`.
        rdev: u64,
    },
    /// A pipe, see [`crate::pipe::identity`].
    Pipe {
        /// As in `st_dev`.
        dev: u64,
        /// As in `st_ino`.
        inode: u64,
    },
}

/// A thread that waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeper {
    /// Its process.
    pub pid: u32,
    /// Itself.
    pub tid: u32,
    /// How often it left a processor so far. A higher number later means that it has run in between.
    pub switches: u64,
    /// It will also wake by itself: the call has a timeout.
    pub timed: bool,
}

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The first thread found that waits for input.
    pub blocked: Option<Sleeper>,
    /// We could look at one of the candidates at least; false means that nothing is known.
    pub readable: bool,
}

/// Looks for a thread of the candidates that waits for input on `object`.
///
/// The candidates of a terminal are the processes of its foreground group ([`crate::process_group::members`]), since only they may
/// read it; their controlling terminal (`/dev/tty`) is taken for it. The candidates of a pipe are all processes that may have it.
///
/// Costs tens of microseconds for each thread. Never blocks.
pub fn waiting_for_input(candidates: &[u32], object: InputObject) -> Evidence {
    let mut evidence = Evidence::default();
    for pid in candidates {
        for tid in threads(*pid) {
            let thread = Thread { pid: *pid, tid };
            match thread.waits_for(object) {
                Ok(Some(timed)) => {
                    evidence.readable = true;
                    evidence.blocked = thread.sleeper(timed);
                    if evidence.blocked.is_some() {
                        return evidence;
                    }
                }
                Ok(None) => evidence.readable = true,
                // Ended meanwhile, or not ours to look at.
                Err(_) => {}
            }
        }
    }
    evidence
}

/// How often a thread left a processor, voluntarily or not; `None` if it is gone.
pub fn context_switches(pid: u32, tid: u32) -> Option<u64> {
    Some(Thread { pid, tid }.status()?.switches)
}

fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).take(THREADS_MAX).collect()
}

#[derive(Clone, Copy)]
struct Thread {
    pid: u32,
    tid: u32,
}

struct Status {
    sleeping: bool,
    switches: u64,
}

impl Thread {
    fn path(self, file: &str) -> String {
        format!("/proc/{}/task/{}/{file}", self.pid, self.tid)
    }

    /// `Some` if it sleeps in a call that waits for the object, with whether that has a timeout.
    fn waits_for(self, object: InputObject) -> io::Result<Option<bool>> {
        match fs::read_to_string(self.path("syscall")) {
            Ok(line) => Ok(call::parse(&line).filter(|sleep| self.watches(sleep, object)).map(|sleep| sleep.timed)),
            Err(error) => self.waits_by_name(object, error),
        }
    }

    /// Without the call we can still know the function, which is good enough for terminals only: that of a pipe does not say
    /// which one.
    fn waits_by_name(self, object: InputObject, no_call: io::Error) -> io::Result<Option<bool>> {
        let InputObject::Terminal { .. } = object else { return Err(no_call) };
        let name = fs::read_to_string(self.path("wchan"))?;
        if name.is_empty() || name == "0" {
            return Err(no_call);
        }
        Ok((name.contains("n_tty_read") || name.contains("wait_woken")).then_some(false))
    }

    fn watches(self, sleep: &Sleep, object: InputObject) -> bool {
        match sleep.watch {
            Watch::Descriptor(fd) => self.is_object(fd, object),
            Watch::Poll { address, count } => {
                let array = self.memory(address, count.min(POLL_COUNT_MAX).saturating_mul(call::POLLFD_BYTES));
                call::polled(&array.unwrap_or_default()).any(|fd| self.is_object(fd, object))
            }
            Watch::Select { address, count } => {
                let set = self.memory(address, count.min(SELECT_COUNT_MAX).div_ceil(8));
                call::selected(&set.unwrap_or_default(), count).any(|fd| self.is_object(fd, object))
            }
            Watch::Epoll(fd) => {
                let info = self.epoll_info(fd).unwrap_or_default();
                call::registered(&info).any(|fd| self.is_object(fd, object))
            }
        }
    }

    /// The file behind a descriptor of the thread is the object.
    fn is_object(self, fd: u64, object: InputObject) -> bool {
        let Ok(found) = stat(self.path(&format!("fd/{fd}"))) else { return false };
        match object {
            InputObject::Terminal { rdev } => {
                let own_terminal = makedev(5, 0);
                FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice && [rdev, own_terminal].contains(&found.st_rdev)
            }
            InputObject::Pipe { dev, inode } => (found.st_dev, found.st_ino) == (dev, inode),
        }
    }

    fn memory(self, address: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        File::open(self.path("mem"))?.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    fn epoll_info(self, fd: u64) -> io::Result<String> {
        let mut text = String::new();
        File::open(self.path(&format!("fdinfo/{fd}")))?.take(FDINFO_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }

    fn status(self) -> Option<Status> {
        let text = fs::read_to_string(self.path("status")).ok()?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let count = |name: &str| field(name)?.parse::<u64>().ok();
        Some(Status {
            sleeping: field("State:")?.starts_with('S'),
            switches: count("voluntary_ctxt_switches:")?.saturating_add(count("nonvoluntary_ctxt_switches:")?),
        })
    }

    /// A stopped thread still shows the call that it was stopped in, but input would not wake it.
    fn sleeper(self, timed: bool) -> Option<Sleeper> {
        let status = self.status()?;
        status.sleeping.then_some(Sleeper { pid: self.pid, tid: self.tid, switches: status.switches, timed })
    }
}
