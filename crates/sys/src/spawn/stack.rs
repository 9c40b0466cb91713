//! Stacks for children that share our memory until they run their program.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, PoisonError};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// A child uses a few KiB; only touched pages cost memory.
const STACK_BYTES: usize = 64 * 1024;

/// An overflow must fault instead of writing over whatever is mapped below. Covers pages of up to 64 KiB.
const GUARD_BYTES: usize = 64 * 1024;

/// Kept for the next start: one for a plain child, two for a detached one.
const STACKS_KEPT_MAX: usize = 2;

static KEPT: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

/// A mapping with a guard at its low end.
#[derive(Debug)]
pub(super) struct Stack {
    low: NonNull<c_void>,
}

// SAFETY: the mapping belongs to this value alone and has no tie to a thread.
unsafe impl Send for Stack {}

impl Stack {
    /// How many bytes can be used, from the bottom.
    pub(super) const LENGTH_BYTES: usize = STACK_BYTES;

    /// A stack that nobody uses, from those kept or a new one.
    pub(super) fn take() -> io::Result<Self> {
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(Self::map, Ok)
    }

    /// Gives it back. The caller's children must have left it: they ended or run their own program.
    pub(super) fn give_back(self) {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < STACKS_KEPT_MAX {
            kept.push(self);
        }
    }

    /// Where a downward-growing stack starts.
    pub(super) fn top(&self) -> *mut c_void {
        // SAFETY: the result is one past the end of the mapping of exactly this length.
        unsafe { self.low.as_ptr().byte_add(GUARD_BYTES + STACK_BYTES) }
    }

    /// The lowest usable byte.
    pub(super) fn bottom(&self) -> *mut c_void {
        // SAFETY: the guard is a part of the mapping.
        unsafe { self.low.as_ptr().byte_add(GUARD_BYTES) }
    }

    fn map() -> io::Result<Self> {
        let length = GUARD_BYTES + STACK_BYTES;
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches no memory in use.
        let low = unsafe {
            mmap_anonymous(
                null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::STACK | MapFlags::NORESERVE,
            )
        }?;
        let stack = Self { low: NonNull::new(low).expect("mmap without MAP_FIXED never returns the null page") };
        // SAFETY: the range lies within the mapping made above, which nobody else knows yet.
        unsafe { mprotect(low, GUARD_BYTES, MprotectFlags::empty()) }?;
        Ok(stack)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, of this length, and no child is on it (see `give_back`).
        // A failure could only leave it mapped, which is harmless.
        let _ = unsafe { munmap(self.low.as_ptr(), GUARD_BYTES + STACK_BYTES) };
    }
}
