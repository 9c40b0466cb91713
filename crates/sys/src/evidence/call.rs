//! Reading the calls that threads sleep in: pure functions over what `/proc` shows.

use std::ffi::c_long;

/// Size of the kernel's `struct pollfd`, the same on every architecture.
pub(super) const POLLFD_BYTES: u64 = 8;

const POLL_FOR_READING: u16 = (libc::POLLIN | libc::POLLRDNORM).cast_unsigned();

const EPOLL_FOR_READING: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM).cast_unsigned();

/// A call that can wait for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sleep {
    pub(super) watch: Watch,
    pub(super) timed: bool,
}

/// What it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// One descriptor.
    Descriptor(u64),
    /// An array of `pollfd`.
    Poll { address: u64, count: u64 },
    /// A bit for each descriptor.
    Select { address: u64, count: u64 },
    /// The interests of an `epoll` descriptor.
    Epoll(u64),
}

/// The call from the text of `syscall`, see `proc_pid_syscall(5)`: its number, then six arguments in hexadecimal. `None` for
/// calls that don't wait for input, and for threads that run.
pub(super) fn parse(line: &str) -> Option<Sleep> {
    let mut words = line.split_ascii_whitespace();
    let number: c_long = words.next()?.parse().ok()?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    let [first, second, third, fourth, fifth, _] = arguments;
    let sleep = |watch, timed| Some(Sleep { watch, timed });
    match number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 | libc::SYS_preadv | libc::SYS_preadv2 | libc::SYS_splice => {
            sleep(Watch::Descriptor(first), false)
        }
        libc::SYS_ppoll => sleep(Watch::Poll { address: first, count: second }, third != 0),
        libc::SYS_pselect6 => sleep(Watch::Select { address: second, count: first }, fifth != 0),
        libc::SYS_epoll_pwait => sleep(Watch::Epoll(first), is_timeout_ms(fourth)),
        libc::SYS_epoll_pwait2 => sleep(Watch::Epoll(first), fourth != 0),
        _ => parse_older(number, arguments),
    }
    .filter(|sleep| !matches!(sleep.watch, Watch::Poll { address: 0, .. } | Watch::Select { address: 0, .. }))
}

/// The calls that newer architectures have left out.
#[cfg(target_arch = "x86_64")]
fn parse_older(number: c_long, arguments: [u64; 6]) -> Option<Sleep> {
    let [first, second, third, fourth, fifth, _] = arguments;
    let (watch, timed) = match number {
        libc::SYS_poll => (Watch::Poll { address: first, count: second }, is_timeout_ms(third)),
        libc::SYS_select => (Watch::Select { address: second, count: first }, fifth != 0),
        libc::SYS_epoll_wait => (Watch::Epoll(first), is_timeout_ms(fourth)),
        _ => return None,
    };
    Some(Sleep { watch, timed })
}

/// See above.
#[cfg(not(target_arch = "x86_64"))]
fn parse_older(_number: c_long, _arguments: [u64; 6]) -> Option<Sleep> {
    None
}

/// The argument is an int, of which the register may hold more: negative is "forever".
fn is_timeout_ms(argument: u64) -> bool {
    argument & (1 << 31) == 0
}

/// The descriptors of a `pollfd` array that are waited for to be readable.
pub(super) fn polled(array: &[u8]) -> impl Iterator<Item = u64> {
    array.as_chunks::<8>().0.iter().filter_map(|[a, b, c, d, e, f, _, _]| {
        let fd = i32::from_ne_bytes([*a, *b, *c, *d]);
        let events = u16::from_ne_bytes([*e, *f]);
        // A negative one is a slot that is not in use.
        u64::try_from(fd).ok().filter(|_| events & POLL_FOR_READING != 0)
    })
}

/// The descriptors below `count` whose bit is set. Bits stand in words of the machine, which on little-endian machines is in order.
pub(super) fn selected(set: &[u8], count: u64) -> impl Iterator<Item = u64> {
    let bits = set.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
    (0..count).zip(bits).filter_map(|(fd, is_set)| is_set.then_some(fd))
}

/// The descriptors in the `fdinfo` of an `epoll` that are waited for to be readable, see `proc_pid_fdinfo(5)`.
pub(super) fn registered(info: &str) -> impl Iterator<Item = u64> {
    info.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let fd = words.by_ref().skip_while(|word| *word != "tfd:").nth(1)?.parse().ok()?;
        let events = words.skip_while(|word| *word != "events:").nth(1)?;
        (u32::from_str_radix(events, 16).ok()? & EPOLL_FOR_READING != 0).then_some(fd)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::{Sleep, Watch, parse, polled, registered, selected};

    fn line(number: i64, arguments: [u64; 6]) -> String {
        let arguments = arguments.map(|argument| format!("{argument:#x}")).join(" ");
        format!("{number} {arguments} 0x7ffd 0x7f35\n")
    }

    #[test]
    fn calls_that_wait_for_input_are_known() {
        let read = parse(&line(libc::SYS_read, [3, 0x1000, 4096, 0, 0, 0]));
        assert_eq!(read, Some(Sleep { watch: Watch::Descriptor(3), timed: false }));
        let ppoll = parse(&line(libc::SYS_ppoll, [0x1000, 2, 0x2000, 0, 0, 0]));
        assert_eq!(ppoll, Some(Sleep { watch: Watch::Poll { address: 0x1000, count: 2 }, timed: true }));
        let select = parse(&line(libc::SYS_pselect6, [1, 0x1000, 0, 0, 0, 0]));
        assert_eq!(select, Some(Sleep { watch: Watch::Select { address: 0x1000, count: 1 }, timed: false }));
        let forever = parse(&line(libc::SYS_epoll_pwait, [5, 0x1000, 8, 0xffff_ffff, 0, 0]));
        assert_eq!(forever, Some(Sleep { watch: Watch::Epoll(5), timed: false }));
        let timed = parse(&line(libc::SYS_epoll_pwait, [5, 0x1000, 8, 100, 0, 0]));
        assert_eq!(timed, Some(Sleep { watch: Watch::Epoll(5), timed: true }));
    }

    #[test]
    fn other_threads_wait_for_nothing() {
        let sleeps_only = line(libc::SYS_pselect6, [0, 0, 0, 0, 0x2000, 0]);
        for text in ["running\n", "-1 0x7ffd 0x7f35\n", "", "0 0x0", &line(libc::SYS_clock_nanosleep, [0; 6]), &sleeps_only] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn poll_arrays_are_read() {
        let entry = |fd: i32, events: i16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat();
        let array = [entry(-1, libc::POLLIN), entry(4, libc::POLLOUT), entry(7, libc::POLLIN | libc::POLLOUT), vec![9, 0, 0]].concat();
        assert_eq!(polled(&array).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn epoll_interests_are_read() {
        let info = "pos:\t0\nflags:\t02000002\nmnt_id:\t15\n\
            tfd:        0 events:       19 data:                0  pos:0 ino:3 sdev:16\n\
            tfd:        9 events:        4 data:                9  pos:0 ino:3 sdev:16\n\
            tfd:       12 events: 80000001 data:                c  pos:0 ino:3 sdev:16\n";
        assert_eq!(registered(info).collect::<Vec<_>>(), [0, 12]);
    }

    proptest! {
        #[test]
        fn every_set_bit_below_the_count_is_a_descriptor(fds in prop::collection::btree_set(0..256_u64, 0..20), count in 0..300_u64) {
            let mut set = [0_u8; 32];
            for fd in &fds {
                set[usize::try_from(fd / 8).unwrap()] |= 1 << (fd % 8);
            }
            let expected: Vec<u64> = fds.iter().copied().filter(|fd| *fd < count).collect();
            prop_assert_eq!(selected(&set, count).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn no_text_panics(text in ".*", bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = (parse(&text), registered(&text).count(), polled(&bytes).count());
        }
    }
}
